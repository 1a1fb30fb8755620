// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const mask = "[redacted]"

// replace is called for each attribute of each line, including those of the handler.
func replace(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.LevelKey {
		if level, ok := a.Value.Any().(slog.Level); ok {
			return slog.String(a.Key, levelName(level))
		}
	}
	if isCredential(a.Key) {
		return slog.String(a.Key, mask)
	}
	return slog.Attr{Key: a.Key, Value: clean(a.Value)}
}

// clean returns a value in the form in which it may be logged.
func clean(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(scrub(v.String()))
	case slog.KindDuration:
		// JSON would contain a number of nanoseconds.
		return slog.StringValue(v.Duration().Round(time.Microsecond).String())
	case slog.KindAny:
		return cleanAny(v)
	default:
		return v
	}
}

func cleanAny(v slog.Value) slog.Value {
	if m, ok := v.Any().(logr.Marshaler); ok {
		v = slog.AnyValue(m.MarshalLog())
		if v.Kind() != slog.KindAny {
			return clean(v)
		}
	}
	switch x := v.Any().(type) {
	case error:
		return slog.StringValue(scrub(x.Error()))
	case metav1.Object:
		return slog.StringValue(objectName(x))
	case []byte:
		return slog.StringValue(scrub(string(x)))
	case []string:
		out := make([]string, 0, len(x))
		for _, s := range x {
			out = append(out, scrub(s))
		}
		return slog.AnyValue(out)
	default:
		return v
	}
}

func objectName(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// isCredential reports whether the values of a key are secret, by its name. The key "secret" is not, because it has names of
// Secrets.
func isCredential(key string) bool {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(key)) {
	case "token", "jointoken", "bootstraptoken", "bearertoken", "tokensecret", "password", "authorization",
		"privatekey", "kubeconfig", "clientkeydata", "secretaccesskey":
		return true
	default:
		return false
	}
}

// scrub masks credentials in a text, such as an error that quotes a command line.
func scrub(s string) string {
	if strings.Contains(s, "T10") {
		s = regexp.MustCompile(`T10[0-9a-fA-F]*::[0-9A-Za-z]+\.[0-9A-Za-z]+`).ReplaceAllString(s, mask)
	}
	if strings.Contains(s, "earer ") {
		s = regexp.MustCompile(`([Bb]earer )[0-9A-Za-z._~+/=-]{16,}`).ReplaceAllString(s, "${1}"+mask)
	}
	if strings.Contains(s, "PRIVATE KEY-----") {
		s = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`).ReplaceAllString(s, mask)
	}
	return s
}
