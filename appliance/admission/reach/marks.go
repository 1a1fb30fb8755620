// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// The garden acts upon some labels and annotations of the objects that it keeps: the role of a Secret in the namespace
// garden makes it the default domain of all shoots, or has it copied to all seeds. Only operators may set such marks.

// prefixDNS is the prefix of the annotations with the domain of a Secret.
const prefixDNS = "dns.gardener.cloud/"

// Unmarked rejects an object whose marks a client of a seed or of a shoot sets, changes or removes. old is nil for a new
// object.
func Unmarked(kind graph.Kind, object, old metav1.Object) error {
	var before, beforeNotes map[string]string
	if old != nil {
		before, beforeNotes = old.GetLabels(), old.GetAnnotations()
	}
	_, ofShoot := graph.ShootOf(graph.Vertex{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()})
	for _, key := range changedKeys(object.GetLabels(), before) {
		value, set := object.GetLabels()[key]
		if key == gardencorev1beta1.LabelRole && ofShoot && (!set || query.OfShoot(value)) {
			continue
		}
		if key == gardencorev1beta1.LabelRole || strings.HasPrefix(key, gardencorev1beta1.LabelPrefixSeedName) {
			return fmt.Errorf("metadata.labels[%s]: can be set by operators only, not by gardenlets", key)
		}
	}
	for _, key := range changedKeys(object.GetAnnotations(), beforeNotes) {
		if strings.HasPrefix(key, prefixDNS) {
			return fmt.Errorf("metadata.annotations[%s]: can be set by operators only, not by gardenlets", key)
		}
	}

	return nil
}

// changedKeys lists the keys whose values differ, or that only one of the maps has.
func changedKeys(now, before map[string]string) []string {
	var keys []string
	for key, value := range now {
		if was, ok := before[key]; !ok || was != value {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, ok := now[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)

	return keys
}
