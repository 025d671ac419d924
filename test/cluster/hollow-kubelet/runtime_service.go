//go:build !kubernetes1.35

package main

import (
	"context"
	"time"

	cri "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
)

// The client of the fake runtime.
func runtimeService(ctx context.Context, endpoint string) (cri.RuntimeService, error) {
	return remote.NewRemoteRuntimeService(ctx, endpoint, 15*time.Second, nil, false)
}
