//go:build kubernetes1.35

package main

import (
	"context"
	"time"

	cri "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
)

// The client of the fake runtime, by the arguments that it took before Kubernetes 1.36.
func runtimeService(_ context.Context, endpoint string) (cri.RuntimeService, error) {
	return remote.NewRemoteRuntimeService(endpoint, 15*time.Second, nil, nil)
}
