// What a command may do with the terminal. cli.ts makes the real one and is the only place of stdout and exit.

export interface Terminal {
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Aborts at the first SIGINT or SIGTERM; a second one ends the process. */
  readonly signal: AbortSignal;
}
