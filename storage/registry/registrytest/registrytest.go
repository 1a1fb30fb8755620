// SPDX-License-Identifier: Apache-2.0

// Package registrytest gives tests all kinds of the garden.
package registrytest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	local "github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shoot"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/security/workloadidentity"
)

// Shoots are the settings of shoots in a garden in which no ConfigMap exists and nobody may do anything.
func Shoots() shoot.Settings {
	return shoot.Settings{
		Authorizer: kindtest.Allowing(),
		ConfigMap: func(_ context.Context, namespace, name string) (*corev1.ConfigMap, error) {
			return nil, storage.NewKeyNotFoundError(namespace+"/"+name, 0)
		},
		MaxKubeconfigLifetime: 24 * time.Hour, CredentialsRotationInterval: 90 * 24 * time.Hour,
	}
}

// Groups are all groups of a garden that keeps objects in memory, with what their stores are made from.
func Groups(tb testing.TB, change ...func(*kind.Options)) ([]*genericapiserver.APIGroupInfo, kind.Options) {
	tb.Helper()
	o := kindtest.Options(tb, change...)
	groups, err := registry.Groups(o, registry.Settings{
		Shoots: Shoots(),
		Tokens: workloadidentity.TokenSigner{
			Issuer: "https://garden.example/issuer", Sign: plain, MinLifetime: time.Hour, MaxLifetime: 48 * time.Hour, Gardenlet: gardenlet,
		},
		Timeline: timelines(tb),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return groups, o
}

// timelines are the settings of timelines to which no gardenlet reports.
func timelines(tb testing.TB) timeline.Settings {
	tb.Helper()
	store, err := local.Open(local.Config{Dir: tb.TempDir(), Keep: time.Hour, MaxBytes: 1 << 20, Clock: clock.RealClock{}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return timeline.Settings{
		Store: store, Recorder: timeline.NewRecorder(store, clock.RealClock{}), Authorizer: kindtest.Allowing(), Clock: clock.RealClock{},
		Born:   func(context.Context, string) (time.Time, error) { return time.Time{}, nil },
		Client: func(user.Info) (timeline.Client, bool) { return timeline.Client{}, false },
	}
}

// gardenlet knows gardenlets by their names alone.
func gardenlet(who user.Info) (seed string, ok bool) {
	return strings.CutPrefix(who.GetName(), gardencorev1beta1.UserPrefixSeed)
}

// plain writes claims as they are, so that tests can read them.
func plain(claims any) (string, error) {
	data, err := json.Marshal(claims)
	return string(data), err
}
