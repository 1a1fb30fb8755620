// SPDX-License-Identifier: Apache-2.0

package jointoken_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/apis/jointoken"
)

func TestPurposeOf(t *testing.T) {
	t.Parallel()
	eu := types.NamespacedName{Namespace: "garden", Name: "eu-1"}
	cases := map[string]struct {
		reason string
		data   map[string]string
		want   jointoken.Purpose
		err    error
	}{
		"Nothing":                {reason: "A token may be for no seed in particular."},
		"Described":              {reason: "What people write is no purpose.", data: map[string]string{"description": "for the seed in the basement"}},
		"Other":                  {reason: "Nor is an object of another kind.", data: map[string]string{"description": "for the Quota resource eu/1"}},
		"GCM-CSR-7 shoot":        {reason: "A token for a self-hosted shoot is for no seed.", data: map[string]string{"description": "for the Shoot resource garden/eu-1"}, want: jointoken.Purpose{Shoot: eu}},
		"GCM-CSR-7 prose":        {reason: "In whatever words, and twice.", data: map[string]string{"description": "Connects (garden-dev/a). I said garden-dev/a!"}, want: jointoken.Purpose{Shoot: types.NamespacedName{Namespace: "garden-dev", Name: "a"}}},
		"GCM-CSR-7 two shoots":   {reason: "Not two of them.", data: map[string]string{"description": "garden-dev/a or garden-dev/b"}, err: jointoken.ErrTwoShoots},
		"GCM-CSR-7 no project":   {reason: "Shoots are in projects.", data: map[string]string{"description": "and/or gardens/a garden/A garden-dev/"}},
		"GCM-CSR-7 seed":         {reason: "A token for a seed is for no shoot.", data: map[string]string{"seed": "eu-1", "description": "instead of garden-dev/a"}, want: jointoken.Purpose{Seed: "eu-1"}},
		"GCM-CSR-7 managed seed": {reason: "Nor is one that a gardenlet made, whatever it adds.", data: map[string]string{"description": "garden-dev/a for the ManagedSeed resource garden/eu-1 and garden-dev/a"}, want: jointoken.Purpose{Seed: "eu-1", Kind: "ManagedSeed", Object: eu}},
		"Seed":                   {reason: "An operator names the seed.", data: map[string]string{"seed": "eu-1"}, want: jointoken.Purpose{Seed: "eu-1"}},
		"Renew":                  {reason: "And may ask for another certificate.", data: map[string]string{"seed": "eu-1", "renew": "true"}, want: jointoken.Purpose{Seed: "eu-1", Renew: true}},
		"ManagedSeed":            {reason: "A gardenlet names the ManagedSeed.", data: map[string]string{"description": "A bootstrap token for the ManagedSeed resource garden/eu-1."}, want: jointoken.Purpose{Seed: "eu-1", Kind: "ManagedSeed", Object: eu}},
		"Gardenlet":              {reason: "Or the Gardenlet.", data: map[string]string{"description": "Token for the Gardenlet resource garden/eu-1 in the north"}, want: jointoken.Purpose{Seed: "eu-1", Kind: "Gardenlet", Object: eu}},
		"Two":                    {reason: "Not two seeds.", data: map[string]string{"seed": "eu-2", "description": "for the ManagedSeed resource garden/eu-1"}, err: jointoken.ErrContradiction},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := jointoken.PurposeOf(&corev1.Secret{StringData: tc.data})
			if diff := cmp.Diff(tc.want, got); diff != "" || !errors.Is(err, tc.err) {
				t.Errorf("%s\nPurposeOf(...): error %v, want %v (-want +got):\n%s", tc.reason, err, tc.err, diff)
			}
		})
	}
}

func TestMark(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{}
	secret.Annotations = map[string]string{"kept": "yes"}
	want := &jointoken.Use{Seed: "eu-1", At: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Request: "seed-csr-1", UID: "1", Key: "2"}
	jointoken.Mark(secret, want)
	if diff := cmp.Diff(want, jointoken.UseOf(secret)); diff != "" {
		t.Errorf("What was marked is read again (-want +got):\n%s", diff)
	}
	jointoken.Mark(secret, nil)
	if diff := cmp.Diff(map[string]string{"kept": "yes"}, secret.Annotations); diff != "" || jointoken.UseOf(secret) != nil {
		t.Errorf("Without the mark, the rest stays (-want +got):\n%s", diff)
	}
}
