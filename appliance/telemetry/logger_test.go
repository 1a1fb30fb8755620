// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// entries decodes a JSON log and takes the times away.
func entries(t *testing.T, b *bytes.Buffer) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(b.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("log line %q is no JSON: %v", line, err)
		}
		delete(e, "time")
		out = append(out, e)
	}
	return out
}

func TestNewLoggerLevels(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		level  telemetry.Level
		want   []string
	}{
		"Default": {
			reason: "Without a level, info and errors are logged.",
			want:   []string{"info zero", "error failed"},
		},
		"Info": {
			reason: "Debug lines are left out of the ordinary log.",
			level:  telemetry.LevelInfo,
			want:   []string{"info zero", "error failed"},
		},
		"Debug": {
			reason: "V(1) to V(3) are debug lines; the chatter above is left out even then.",
			level:  telemetry.LevelDebug,
			want:   []string{"info zero", "debug one", "debug three", "error failed"},
		},
		"Error": {
			reason: "A quiet log holds errors only.",
			level:  telemetry.LevelError,
			want:   []string{"error failed"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			logger := telemetry.NewLogger(&b, telemetry.Options{Level: tc.level, Format: telemetry.FormatJSON})
			logger.Info("zero")
			logger.V(1).Info("one")
			logger.V(3).Info("three")
			logger.V(4).Info("four")
			logger.Error(errors.New("boom"), "failed")

			written := entries(t, &b)
			got := make([]string, 0, len(written))
			for _, e := range written {
				got = append(got, fmt.Sprint(e["level"], " ", e["msg"]))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nlines at level %q (-want +got):\n%s", tc.reason, tc.level, diff)
			}
		})
	}
}

func TestNewLoggerText(t *testing.T) {
	t.Parallel()

	var b bytes.Buffer
	logger := telemetry.NewLogger(&b, telemetry.Options{})
	logger.WithName("kine").Info("Unit ready", "unit", "kine", "took", 1500*time.Millisecond)

	_, got, _ := strings.Cut(b.String(), " ") // the time
	want := "level=info msg=\"Unit ready\" logger=kine unit=kine took=1.5s\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("A line of text is for people.\nline (-want +got):\n%s", diff)
	}
}

func TestNewLoggerValues(t *testing.T) {
	t.Parallel()

	const (
		hash  = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		token = "T10" + hash + "::abcdef.0123456789abcdef"
	)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"},
		StringData: map[string]string{"token-secret": "0123456789abcdef"},
	}
	cases := map[string]struct {
		reason string
		log    func(logr.Logger)
		want   map[string]any
	}{
		"Duration": {
			reason: "A bare number of nanoseconds helps nobody.",
			log:    func(l logr.Logger) { l.Info("m", "took", 1234567*time.Nanosecond) },
			want:   map[string]any{"took": "1.235ms"},
		},
		"Object": {
			reason: "An object is told by its name, and its contents stay out of the log.",
			log:    func(l logr.Logger) { l.Info("m", "object", secret) },
			want:   map[string]any{"object": "kube-system/bootstrap-token-abcdef"},
		},
		"ObjectReference": {
			reason: "References as Kubernetes libraries log them stay readable.",
			log:    func(l logr.Logger) { l.Info("m", "secret", klog.KObj(secret)) },
			want:   map[string]any{"secret": map[string]any{"name": "bootstrap-token-abcdef", "namespace": "kube-system"}},
		},
		"CredentialKeys": {
			reason: "What is called a credential is masked, however the name is written.",
			log: func(l logr.Logger) {
				l.Info("m", "token", "a", "joinToken", "b", "Password", "c", "private-key", []byte("d"), "tokenID", "abcdef")
			},
			want: map[string]any{
				"token": "[redacted]", "joinToken": "[redacted]", "Password": "[redacted]", "private-key": "[redacted]",
				"tokenID": "abcdef",
			},
		},
		"TokenInText": {
			reason: "A join token inside of a command line is masked, the rest of the line is kept.",
			log:    func(l logr.Logger) { l.Info("m", "command", "join --token "+token+" --name x") },
			want:   map[string]any{"command": "join --token [redacted] --name x"},
		},
		"TokenInMessage": {
			reason: "Libraries put values into messages.",
			log:    func(l logr.Logger) { l.Info("Used " + token) },
			want:   map[string]any{"msg": "Used [redacted]"},
		},
		"TokenInArguments": {
			reason: "Each argument of a list is looked at.",
			log:    func(l logr.Logger) { l.Info("m", "args", []string{"join", token}) },
			want:   map[string]any{"args": []any{"join", "[redacted]"}},
		},
		"BearerInError": {
			reason: "Errors quote requests at times.",
			log: func(l logr.Logger) {
				l.Error(errors.New(`header "Authorization: Bearer abcdef.0123456789abcdef"`), "m")
			},
			want: map[string]any{"level": "error", "err": `header "Authorization: Bearer [redacted]"`},
		},
		"BearerAsWord": {
			reason: "A sentence about bearer tokens is not a token.",
			log:    func(l logr.Logger) { l.Error(errors.New("invalid bearer token"), "m") },
			want:   map[string]any{"level": "error", "err": "invalid bearer token"},
		},
		"PrivateKey": {
			reason: "A key is masked whole, also when its end is missing.",
			log: func(l logr.Logger) {
				l.Info("m", "file", "a\n-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\nb", "cut",
					"-----BEGIN PRIVATE KEY-----\nAAAA")
			},
			want: map[string]any{"file": "a\n[redacted]\nb", "cut": "[redacted]"},
		},
		"BoundValues": {
			reason: "Values bound to a logger go through the same filter.",
			log:    func(l logr.Logger) { l.WithValues("token", "a", "object", secret).Info("m") },
			want:   map[string]any{"token": "[redacted]", "object": "kube-system/bootstrap-token-abcdef"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			tc.log(telemetry.NewLogger(&b, telemetry.Options{Format: telemetry.FormatJSON}))

			want := map[string]any{"level": "info", "msg": "m"}
			maps.Copy(want, tc.want)
			if diff := cmp.Diff([]map[string]any{want}, entries(t, &b)); diff != "" {
				t.Errorf("%s\nlog (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOptionsValidate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		given  telemetry.Options
		want   []string
	}{
		"Empty": {reason: "Everything has a default."},
		"Good": {
			reason: "Each documented word is accepted.",
			given:  telemetry.Options{Level: "debug", Format: "json"},
		},
		"Bad": {
			reason: "Each wrong word names its flag and the words that would be right.",
			given:  telemetry.Options{Level: "verbose", Format: "xml"},
			want: []string{
				`--log-level: "verbose" is not one of debug, info, error`,
				`--log-format: "xml" is not one of text, json`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := tc.given.Validate()
			got := make([]string, 0, len(errs))
			for _, err := range errs {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nValidate() (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRedirect is the only test that touches the globals, and it reads buffers of its own.
func TestRedirect(t *testing.T) {
	t.Parallel()

	redirected := func(level telemetry.Level) []string {
		var b bytes.Buffer
		logger := telemetry.NewLogger(&b, telemetry.Options{Level: level, Format: telemetry.FormatJSON})
		if err := telemetry.Redirect(logger, level); err != nil {
			t.Fatalf("Redirect(..., %q) = %v", level, err)
		}
		klog.InfoS("Structured", "token", "secret")
		klog.V(2).InfoS("Detail")
		klog.V(3).InfoS("Chatter")
		klog.Background().Info("Contextual")
		klog.Background().V(2).Info("Contextual detail")
		klog.Infof("Text %d", 1)
		klog.Warningf("Warning ] %d", 2)
		klog.Errorf("Error %d", 3)
		klog.ErrorS(errors.New("boom"), "Structured error")
		slog.Info("From slog")
		log.Print("From log")

		written := entries(t, &b)
		got := make([]string, 0, len(written))
		for _, e := range written {
			got = append(got, fmt.Sprint(e["level"], " ", e["logger"], " ", e["msg"], " ", e["token"]))
		}
		return got
	}

	want := []string{
		"info kubernetes Warning ] 2 <nil>",
		"error kubernetes Error 3 <nil>",
		"error kubernetes Structured error <nil>",
		"info <nil> From slog <nil>",
		"info <nil> From log <nil>",
	}
	if diff := cmp.Diff(want, redirected(telemetry.LevelInfo)); diff != "" {
		t.Errorf("What libraries call information is kept out of the ordinary log.\nlines at info (-want +got):\n%s", diff)
	}
	want = append([]string{
		"debug kubernetes Structured [redacted]",
		"debug kubernetes Detail <nil>",
		"debug kubernetes Contextual <nil>",
		"debug kubernetes Contextual detail <nil>",
		"debug kubernetes Text 1 <nil>",
	}, want...)
	if diff := cmp.Diff(want, redirected(telemetry.LevelDebug)); diff != "" {
		t.Errorf("Debug shows it, and asks for detail as well.\nlines at debug (-want +got):\n%s", diff)
	}
}
