// SPDX-License-Identifier: Apache-2.0

package observability_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// folder has the alerts, their cases, and the dashboard.
const folder = "../../packaging/observability"

// promtool runs the tool in the folder and returns what it says.
func promtool(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: run make test-observability, which installs it")
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Dir = folder
	out, err := command.CombinedOutput()

	return string(out), err
}

// rules is a file of rules.
type rules struct {
	Groups []group `json:"groups"`
}

type group struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert  string `json:"alert,omitempty"`
	Record string `json:"record,omitempty"`
	Expr   string `json:"expr"`
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestAlerts has promtool check the rules and run their cases.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var alerts rules
	load(t, "alerts.yaml", &alerts)
	want := fmt.Sprintf("%d rules found", len(alerts.Groups[0].Rules))
	if out, err := promtool(t, "check", "rules", "--lint=all", "--lint-fatal", "alerts.yaml"); err != nil || !strings.Contains(out, want) {
		t.Errorf("promtool check rules: %v, want %q\n%s", err, want, out)
	}
	if out, err := promtool(t, "test", "rules", "alerts_test.yaml"); err != nil || !strings.Contains(out, "SUCCESS") {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}

// TestEachAlertHasACase finds an alert of which nobody has seen that it fires, or that it ever does not.
func TestEachAlertHasACase(t *testing.T) {
	t.Parallel()
	var alerts rules
	load(t, "alerts.yaml", &alerts)
	var cases struct {
		Tests []struct {
			AlertRuleTest []struct {
				AlertName string `json:"alertname"`
				ExpAlerts []any  `json:"exp_alerts"` //nolint:tagliatelle // The names are those of promtool.
			} `json:"alert_rule_test"` //nolint:tagliatelle // The names are those of promtool.
		} `json:"tests"`
	}
	load(t, "alerts_test.yaml", &cases)
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, c := range cases.Tests {
		for _, at := range c.AlertRuleTest {
			seen := rests
			if len(at.ExpAlerts) > 0 {
				seen = fires
			}
			seen[at.AlertName] = true
		}
	}
	all := map[string]bool{}
	for _, r := range alerts.Groups[0].Rules {
		all[r.Alert] = true
	}
	if diff := cmp.Diff(all, fires); diff != "" {
		t.Errorf("each alert has a case in which it fires (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all, rests); diff != "" {
		t.Errorf("each alert has a case in which it does not fire (-want +got):\n%s", diff)
	}
}

// TestDashboard has promtool read the expressions of the dashboard, as those of rules.
func TestDashboard(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(folder, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	all := group{Name: "dashboard"}
	for i, panel := range dashboard.Panels {
		for n, target := range panel.Targets {
			all.Rules = append(all.Rules, rule{Record: fmt.Sprintf("panel:%d:%d", i, n), Expr: target.Expr})
		}
	}
	text, err := yaml.Marshal(rules{Groups: []group{all}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d rules found", len(all.Rules))
	if out, err := promtool(t, "check", "rules", file); err != nil || len(all.Rules) == 0 || !strings.Contains(out, want) {
		t.Errorf("promtool check rules: %v, want %q\n%s", err, want, out)
	}
}
