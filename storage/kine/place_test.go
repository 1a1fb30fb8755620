// SPDX-License-Identifier: Apache-2.0

package kine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

func TestPlaceOf(t *testing.T) {
	t.Parallel()

	for endpoint, want := range map[string]string{
		"postgres://garden:geheim@db.example.org:5432/garden?sslmode=require":     "PostgreSQL at db.example.org:5432/garden",
		"postgresql://db.example.org/garden?password=geheim":                      "PostgreSQL at db.example.org/garden",
		"postgres://garden:ge@he/im@db.example.org/garden":                        "PostgreSQL at db.example.org/garden",
		"postgres://garden:geheim?geheim@db.example.org/garden":                   "PostgreSQL",
		"mysql://garden:geheim@tcp(db.example.org:3306)/garden?tls=skip-verify":   "MySQL at db.example.org:3306/garden",
		"postgres://garden:gehe,geheim@db.example.org/garden":                     "PostgreSQL at db.example.org/garden",
		"nats://garden:geheim@nats.example.org:4222?bucket=garden":                "NATS at nats.example.org:4222",
		"https://one.example.org:2379,https://garden:geheim@two.example.org:2379": "etcd at one.example.org:2379, two.example.org:2379",
	} {
		got := kine.PlaceOf(endpoint).String()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("A place is described without what is secret.\nPlaceOf(%q) (-want +got):\n%s", endpoint, diff)
		}
		if strings.Contains(got, "geheim") {
			t.Errorf("PlaceOf(%q) shows the password: %s", endpoint, got)
		}
		if !kine.HasPassword(endpoint) {
			t.Errorf("HasPassword(%q): got false, want true", endpoint)
		}
	}
	for _, endpoint := range []string{"", "postgres://db.example.org/garden?sslmode=require", "postgres://garden@db/garden", "https://one:2379"} {
		if kine.HasPassword(endpoint) {
			t.Errorf("HasPassword(%q): got true, want false", endpoint)
		}
	}
}

// TestStartShowsNoPassword makes libraries complain about a URL.
func TestStartShowsNoPassword(t *testing.T) {
	t.Parallel()

	for _, endpoint := range []string{
		"postgres://garden:geheim%zz@127.0.0.1:1/garden", "postgres://garden:geheim@127.0.0.1:port/garden",
		"mysql://garden:geheim@tcp(127.0.0.1:port)/garden?geheim", "postgres://garden:gehe?im@127.0.0.1:1/garden",
	} {
		cfg := kine.NewConfig("")
		cfg.Endpoint = endpoint
		stores, err := kine.Start(t.Context(), cfg)
		if err == nil {
			_ = stores.Close()
			t.Errorf("Start(%q): got no error", endpoint)

			continue
		}
		if strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "gehe?im") {
			t.Errorf("No error shows a password: %v", err)
		}
	}
}
