// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// TestCacheSyncTimeout: all controllers take it from their manager.
func TestCacheSyncTimeout(t *testing.T) {
	t.Parallel()
	c := &gardenconfigv1alpha1.ServerConfiguration{}
	c.Controllers.CacheSyncTimeout = &metav1.Duration{Duration: 7 * time.Minute}
	s := &server{Options: Options{Config: c}}
	if got := s.managerOptions(runtime.NewScheme()).Controller.CacheSyncTimeout; got != 7*time.Minute {
		t.Errorf("the manager waits for its caches for %s, want 7m", got)
	}
}
