// SPDX-License-Identifier: Apache-2.0

package selfupgrade

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// annotationApplied is where the Deployment of the gardenlet keeps what it was made of. It is written with the pods that it belongs to, so the
// process in the next pod finds it, whenever the one that has applied the chart was ended.
const annotationApplied = "selfupgrade.terrarium.garden/applied"

// product is a rendered chart.
type product struct {
	// rest are all objects but the Deployment of the gardenlet.
	rest []client.Object
	// own is that Deployment; nil if the chart has another one or none.
	own client.Object
	// made says what the chart was rendered with, and what has come out.
	made origin
}

// origin tells two products apart.
type origin struct{ inputs, output string }

func (o origin) String() string { return o.inputs + "/" + o.output }

// wavers reports whether the same inputs have made something else before. Such a chart asks for random numbers or the time. Applied once a
// process it would replace its pods without end, because each of them is a new process.
func (o origin) wavers(running *appsv1.Deployment) bool {
	inputs, output, found := strings.Cut(running.Annotations[annotationApplied], "/")
	return found && inputs == o.inputs && output != o.output
}

// originOf makes the hashes. The version of the program belongs to the inputs, because another one may render differently.
func originOf(program string, packed []byte, version string, values map[string]any, objects []client.Object) (origin, error) {
	inputs, err := hashOf(program, packed, version, values)
	if err != nil {
		return origin{}, err
	}
	output, err := hashOf(objects)
	return origin{inputs: inputs, output: output}, err
}

// hashOf is a hash of values in JSON, in which the keys of maps are sorted.
func hashOf(values ...any) (string, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("write what the chart is made of: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// productOf takes the Deployment of the gardenlet out of the objects of a chart, and notes on it what it is made of.
func productOf(objects []client.Object, made origin) product {
	p := product{made: made}
	for _, object := range objects {
		if !isOwn(object) {
			p.rest = append(p.rest, object)
			continue
		}
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[annotationApplied] = made.String()
		object.SetAnnotations(annotations)
		p.own = object
	}
	return p
}

// isOwn reports whether an object is the Deployment of the gardenlet.
func isOwn(object client.Object) bool {
	kind := object.GetObjectKind().GroupVersionKind()
	return kind.Group == appsv1.GroupName && kind.Kind == "Deployment" && object.GetName() == name && object.GetNamespace() == gardencorev1beta1.NamespaceGarden
}
