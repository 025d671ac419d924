// The version of this build, from package.json by way of the bundler; sources that were not bundled say so.

declare const SIGNET_VERSION: string | undefined;

export const version: string = typeof SIGNET_VERSION === 'string' ? SIGNET_VERSION : '0.0.0-source';
