// SPDX-License-Identifier: Apache-2.0

package validation

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
)

// The lists below are facts about Kubernetes itself, one per line: a name, the minor version that introduced it and the one
// that removed it, or a hyphen. The first two are written by scripts/kubernetes-facts. Versions before oldestKnownMinor are not covered:
// whether one of them has a gate or a group that oldestKnownMinor lacks is not known.
var (
	//go:embed featuregates.txt
	featureGateFacts string
	//go:embed apigroups.txt
	apiGroupFacts string
	//go:embed admissionplugins.txt
	admissionPluginFacts string
)

const (
	oldestKnownMinor = 31
	newestKnownMinor = 36
)

// minorOf returns the minor version of a version of three parts, or -1.
func minorOf(value string) int {
	v, err := version.ParseSemantic(value)
	if err != nil {
		return -1
	}
	return int(v.Minor())
}

// fact returns what follows a name in one of the lists.
func fact(list, name string) ([]string, bool) {
	if strings.ContainsAny(name, " \n") {
		return nil, false
	}
	rest, ok := strings.CutPrefix(list, name+" ")
	if !ok {
		_, rest, ok = strings.Cut(list, "\n"+name+" ")
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Fields(line), ok
}

// lifetime is the range of minor versions of Kubernetes that have something: since is the first one, until the first one without
// it.
type lifetime struct{ since, until int }

func lifetimeOf(found []string) lifetime {
	l := lifetime{since: minorNumber(found[0]), until: newestKnownMinor + 1}
	if found[1] != "-" {
		l.until = minorNumber(found[1])
	}
	return l
}

// lacking returns the reason why a minor version lacks something, or an empty string if it has it. A version newer than all
// known ones lacks only what was removed before.
func (l lifetime) lacking(minor int) string {
	switch {
	case minor < l.since && l.since > oldestKnownMinor:
		return fmt.Sprintf("came with Kubernetes 1.%d", l.since)
	case minor >= l.until && l.until <= newestKnownMinor:
		return fmt.Sprintf("was removed in Kubernetes 1.%d", l.until)
	default:
		return ""
	}
}

// unjudged reports whether the lists do not cover a minor version, so that names that are in none of them have to be accepted.
func unjudged(minor int) bool { return minor < oldestKnownMinor || minor > newestKnownMinor }

// featureGates rejects gates that a version of Kubernetes does not know, and values other than the one that it has locked: a
// component would not start with them (API-VALSHOOT-16).
func featureGates(gates map[string]bool, kubernetes string, path *field.Path) field.ErrorList {
	minor := minorOf(kubernetes)
	if minor < 0 {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		found, ok := fact(featureGateFacts, name)
		if !ok {
			if !unjudged(minor) {
				errs = append(errs, field.Invalid(path.Child(name), name, "is not a feature gate of Kubernetes "+kubernetes))
			}
			continue
		}
		if why := lifetimeOf(found).lacking(minor); why != "" {
			errs = append(errs, field.Forbidden(path.Child(name), why))
			continue
		}
		if value, locked := lockedTo(found, minor); locked && value != gates[name] {
			errs = append(errs, field.Forbidden(path.Child(name), fmt.Sprintf("is locked to %t since Kubernetes 1.%s", value, found[2])))
		}
	}
	return errs
}

// lockedTo returns the value to which a minor version has locked a gate, and whether it has.
func lockedTo(found []string, minor int) (value, locked bool) {
	if found[2] == "-" || minor < minorNumber(found[2]) {
		return false, false
	}
	return found[3] == "true", true
}

// vpaFeatureGates rejects gates that the vertical pod autoscaler does not know.
func vpaFeatureGates(gates map[string]bool, path *field.Path) field.ErrorList {
	known := []string{"CPUStartupBoost", "InPlace", "InPlaceOrRecreate", "PerVPAConfig"}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if !slices.Contains(known, name) {
			errs = append(errs, field.Invalid(path.Child(name), name, "is not a feature gate of the vertical pod autoscaler"))
		}
	}
	return errs
}

// runtimeConfig rejects groups, versions and resources that a version of Kubernetes does not have, and disabling those that
// every cluster needs (API-VALSHOOT-16).
func runtimeConfig(config map[string]bool, kubernetes string, workerless bool, path *field.Path) field.ErrorList {
	minor := minorOf(kubernetes)
	if minor < 0 {
		return nil
	}
	needed := neededAPIs(workerless)
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(config)) {
		here := path.Key(name)
		found, ok := fact(apiGroupFacts, name)
		switch {
		case !ok && !unjudged(minor):
			errs = append(errs, field.Invalid(here, name, "is not a group version or resource of the API of Kubernetes "+kubernetes))
		case !ok:
		case lifetimeOf(found).lacking(minor) != "":
			errs = append(errs, field.Forbidden(here, lifetimeOf(found).lacking(minor)))
		case !config[name]:
			for _, api := range needed {
				if api == name || strings.HasPrefix(api, name+"/") || strings.HasPrefix(name, api+"/") {
					errs = append(errs, field.Forbidden(here, "a cluster needs "+api))
				}
			}
		}
	}
	return errs
}

// neededAPIs are the APIs that every cluster needs, because its components and its nodes use them. A group version means all
// of its resources.
func neededAPIs(workerless bool) []string {
	always := []string{
		"v1", "discovery.k8s.io/v1/endpointslices", "events.k8s.io/v1/events", "networking.k8s.io/v1", "rbac.authorization.k8s.io/v1",
	}
	if workerless {
		return always
	}
	return append(always,
		"admissionregistration.k8s.io/v1", "apps/v1", "autoscaling/v2/horizontalpodautoscalers",
		"certificates.k8s.io/v1/certificatesigningrequests", "coordination.k8s.io/v1/leases", "node.k8s.io/v1/runtimeclasses",
		"policy/v1/poddisruptionbudgets", "scheduling.k8s.io/v1/priorityclasses", "storage.k8s.io/v1")
}

// pluginFacts are facts about an admission plugin of Kubernetes.
type pluginFacts struct {
	lifetime

	required, takesConfig, takesKubeconfig bool
}

func pluginNamed(name string) (pluginFacts, bool) {
	found, ok := fact(admissionPluginFacts, name)
	if !ok {
		return pluginFacts{}, false
	}
	return pluginFacts{
		lifetime: lifetimeOf(found), required: slices.Contains(found, "required"),
		takesConfig: slices.Contains(found, "config"), takesKubeconfig: slices.Contains(found, "kubeconfig"),
	}, true
}

func minorNumber(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
