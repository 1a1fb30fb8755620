// SPDX-License-Identifier: Apache-2.0

package validation

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
)

// The lists below are facts about Kubernetes itself, one a line: what is known, since which minor version and, of
// plugins, until which one. The gates are those of the newest version; what it dropped is not in the list.
var (
	//go:embed featuregates.txt
	featureGateFacts string
	//go:embed admissionplugins.txt
	admissionPluginFacts string
)

const newestKnownMinor = 36

// minorOf is the minor version in a version of three parts, or -1.
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

// featureGates complains about gates that a version of Kubernetes does not know (API-VALSHOOT-16). Versions older than
// the newest one known here may know more; newer ones are not judged.
func featureGates(gates map[string]bool, kubernetes string, path *field.Path) field.ErrorList {
	if len(gates) == 0 {
		return nil
	}
	minor := minorOf(kubernetes)
	if minor < 0 || minor > newestKnownMinor {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		found, ok := fact(featureGateFacts, name)
		switch {
		case !ok && minor == newestKnownMinor:
			errs = append(errs, field.Invalid(path.Key(name), name, "is no feature gate of Kubernetes "+kubernetes))
		case ok && len(found) > 0 && minorNumber(found[0]) > minor:
			errs = append(errs, field.Forbidden(path.Key(name), "came with Kubernetes 1."+found[0]))
		}
	}
	return errs
}

// admissionPlugin complains about a plugin that a version of Kubernetes does not know, or about one that is switched
// off although a cluster can not do without it (API-VALSHOOT-16).
func admissionPlugin(name string, disabled bool, kubernetes string, path *field.Path) field.ErrorList {
	found, ok := fact(admissionPluginFacts, name)
	minor := minorOf(kubernetes)
	if !ok || len(found) < 2 {
		if minor > newestKnownMinor {
			return nil
		}
		return field.ErrorList{field.Invalid(path, name, "is no admission plugin of Kubernetes")}
	}
	since, until := found[0], found[1]
	switch {
	case minor >= 0 && minorNumber(since) > minor:
		return field.ErrorList{field.Forbidden(path, "came with Kubernetes 1."+since)}
	case until != "-" && minorNumber(until) <= minor:
		return field.ErrorList{field.Forbidden(path, "was removed in Kubernetes 1."+until)}
	case disabled && len(found) > 2:
		return field.ErrorList{field.Forbidden(path, "a cluster can not do without "+name)}
	default:
		return nil
	}
}

func minorNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
