// SPDX-License-Identifier: Apache-2.0

package kine_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

func TestNewConfig(t *testing.T) {
	t.Parallel()

	want := kine.Config{
		Dir:                 "/data/db",
		MaxOpenConnections:  16,
		NotifyInterval:      5 * time.Second,
		EmulatedETCDVersion: "3.6.11",
		CompactInterval:     5 * time.Minute,
		CompactTimeout:      5 * time.Second,
		CompactMinRetain:    1000,
		CompactBatchSize:    1000,
		PollBatchSize:       500,
		HistoryBytes:        8 << 20,
		Log:                 logr.Discard(),
	}
	got := kine.NewConfig("/data/db")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(logr.Logger{})); diff != "" {
		t.Errorf("Kine as a library has no defaults; these are ours and change on purpose only.\nNewConfig(...) (-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("Our own values have to be valid.\nValidate(): %v", err)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(c *kine.Config)
		want   string
	}{
		"ZeroCompactBatchSize": {
			reason: "Kine would refuse the value, but only after the start.",
			change: func(c *kine.Config) { c.CompactBatchSize = 0 },
			want:   "compact batch size: 0 is below 100",
		},
		"ZeroDurations": {
			reason: "A zero interval makes Kine's tickers panic; each one is named.",
			change: func(c *kine.Config) {
				c.NotifyInterval, c.CompactInterval, c.CompactTimeout = 0, -time.Second, 0
			},
			want: "compact interval: -1s is not positive\n" +
				"compact timeout: 0s is not positive\nnotify interval: 0s is not positive",
		},
		"SmallNumbers": {
			reason: "One connection would let a compaction wait for itself; without a version clients fall back to old features.",
			change: func(c *kine.Config) {
				c.MaxOpenConnections, c.PollBatchSize, c.CompactMinRetain, c.EmulatedETCDVersion = 1, 0, -1, ""
				c.HistoryBytes = 0
			},
			want: "compact min retain: -1 is negative\nemulated etcd version: must be set\nhistory bytes: 0 is below 1\n" +
				"max open connections: 1 is below 2\npoll batch size: 0 is below 1",
		},
		"RelativeDirectory": {
			reason: "A relative path depends on where the process was started.",
			change: func(c *kine.Config) { c.Dir = "db" },
			want:   `directory "db": must be an absolute path`,
		},
		"DirectoryWithQuestionMark": {
			reason: "SQLite would read the rest of the path as parameters.",
			change: func(c *kine.Config) { c.Dir = "/data?" },
			want:   `directory "/data?": must not contain any of ? # %`,
		},
		"UnknownScheme": {
			reason: "The URL may hold a password, so the message shows none of it.",
			change: func(c *kine.Config) { c.Endpoint = "oracle://user:secret@host" },
			want:   "datastore endpoint: must be a URL with one of the schemes postgres, postgresql, mysql, http, https",
		},
		"NATS": {
			reason: "What is not linearizable loses what was acknowledged when another server takes the lead.",
			change: func(c *kine.Config) { c.Endpoint = "nats://user:secret@host:4222" },
			want:   "datastore endpoint: " + kine.ErrNATS.Error(),
		},
		"EmptyURL": {
			reason: "A scheme alone leads nowhere.",
			change: func(c *kine.Config) { c.Endpoint = "postgres://" },
			want:   "datastore endpoint: nothing follows postgres://",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cfg := kine.NewConfig("/data/db")
			tc.change(&cfg)
			err := cfg.Validate()
			if err == nil {
				t.Fatalf("%s\nValidate(): got no error, want %q", tc.reason, tc.want)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nValidate() (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
