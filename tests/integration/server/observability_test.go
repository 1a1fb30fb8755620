// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// folder has the alerts and the dashboard.
const folder = "../../../packaging/observability/"

// promWords are the words of the language of expressions that are no metrics.
func promWords() []string {
	return []string{
		"absent", "and", "by", "histogram_quantile", "ignoring", "increase", "on", "or", "predict_linear", "rate", "sum", "time", "unless", "without", "max", "min",
	}
}

// metricsOf returns the names of the metrics in an expression, and an error if its brackets do not match.
func metricsOf(expression string) ([]string, error) {
	var open []rune
	for _, r := range regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expression, `""`) {
		switch r {
		case '(', '{', '[':
			open = append(open, r)
		case ')', '}', ']':
			if len(open) == 0 || !strings.Contains("(){}[]", string(open[len(open)-1])+string(r)) {
				return nil, fmt.Errorf("%q: brackets do not match", expression)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%q: brackets do not match", expression)
	}
	for _, away := range []string{`"[^"]*"`, `\{[^}]*\}`, `\[[^\]]*\]`, `\b(by|without|on|ignoring)\s*\([^)]*\)`} {
		expression = regexp.MustCompile(away).ReplaceAllString(expression, " ")
	}
	var names []string
	for _, word := range regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`).FindAllString(expression, -1) {
		if !slices.Contains(promWords(), word) {
			names = append(names, word)
		}
	}

	return names, nil
}

// expressions reads those of the alerts and of the dashboard, by where they are.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	var alerts struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	data, err := os.ReadFile(folder + "alerts.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, &struct{ Groups any }{})
	}
	if err == nil {
		err = yaml.Unmarshal(data, &alerts)
	}
	if err != nil || len(alerts.Groups) == 0 {
		t.Fatalf("alerts.yaml: %v", err)
	}
	for _, rule := range alerts.Groups[0].Rules {
		if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("alert %s: severity, summary and description are required", rule.Alert)
		}
		all["alert "+rule.Alert] = rule.Expr
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if data, err = os.ReadFile(folder + "dashboard.json"); err == nil {
		err = json.Unmarshal(data, &dashboard)
	}
	if err != nil || len(dashboard.Panels) == 0 {
		t.Fatalf("dashboard.json: %v", err)
	}
	for _, panel := range dashboard.Panels {
		for n, target := range panel.Targets {
			all[fmt.Sprint("panel ", panel.Title, " ", n)] = target.Expr
		}
	}

	return all
}

// TestObservability compares the alerts, the dashboard and the documentation with the metrics of a running server.
func TestObservability(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	var text string
	harness.Eventually(t, "the metrics are there", func(context.Context) error {
		data, err := raw(t, g, "/metrics", "") //nolint:contextcheck // It takes that of the test.
		text = string(data)
		for _, late := range []string{"terrarium_findings{", "terrarium_store_checked_timestamp_seconds{"} {
			if err == nil && !strings.Contains(text, late) {
				err = fmt.Errorf("no %s yet", late)
			}
		}

		return err
	})
	served := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		served[name] = true
	}
	// Only there once there is a shoot.
	served["terrarium_shoots"] = true
	documented, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	unknown, unnamed := map[string][]string{}, map[string]bool{}
	for at, expression := range expressions(t) {
		names, err := metricsOf(expression)
		if err != nil || len(names) == 0 {
			t.Errorf("%s: %v, metrics %q", at, err, names)
		}
		for _, name := range names {
			if !served[name] {
				unknown[at] = append(unknown[at], name)
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{}, unknown); diff != "" {
		t.Errorf("metrics that the server does not have, by where they are used (-want +got):\n%s", diff)
	}
	for name := range served {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "terrarium_") && !strings.Contains(string(documented), "`"+base+"`") {
			unnamed[base] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{}, unnamed); diff != "" {
		t.Errorf("metrics that docs/metrics.md does not name (-want +got):\n%s", diff)
	}
}
