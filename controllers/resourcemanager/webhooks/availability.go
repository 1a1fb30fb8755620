// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

const (
	prefixAvailability         = "high-availability-config.resources.gardener.cloud/"
	labelSkipAvailability      = prefixAvailability + "skip"
	labelAvailabilityType      = prefixAvailability + "type"
	annotationReplicas         = prefixAvailability + "replicas"
	annotationFailureTolerance = prefixAvailability + "failure-tolerance-type"

	typeController, typeServer = "controller", "server"
	// availableReplicas is the number of pods that survive the loss of one.
	availableReplicas = 2
	// DefaultNodeToleration is how many seconds pods stay on a node that is not ready or does not answer.
	DefaultNodeToleration = 60
)

// surroundings are what the namespace of a workload says about its availability.
type surroundings struct {
	// tolerance is the type of failure that is survived; stated says whether the namespace says anything about it.
	tolerance string
	stated    bool
	zones     []string
	pinned    bool
}

func surroundingsOf(annotations map[string]string) surroundings {
	s := surroundings{}
	s.tolerance, s.stated = annotations[annotationFailureTolerance]
	for zone := range strings.SplitSeq(annotations[gardenresourcesv1alpha1.AnnotationZones], ",") {
		if zone = strings.TrimSpace(zone); zone != "" && !slices.Contains(s.zones, zone) {
			s.zones = append(s.zones, zone)
		}
	}
	s.pinned, _ = strconv.ParseBool(annotations[gardenresourcesv1alpha1.AnnotationZonePinning])
	return s
}

// replicas is the number of pods that a workload with these labels and annotations is to have, or nil if that is its own business.
func (s surroundings) replicas(object client.Object) (*int32, error) {
	if given, found := object.GetAnnotations()[annotationReplicas]; found {
		number, err := strconv.ParseInt(given, 10, 32)
		if err != nil || number < 0 {
			return nil, invalidError{fmt.Errorf("annotation %s: %q is not a number of pods", annotationReplicas, given)}
		}
		return new(int32(number)), nil
	}
	switch object.GetLabels()[labelAvailabilityType] {
	case typeServer:
		return new(int32(availableReplicas)), nil
	case typeController:
		if s.stated && s.tolerance == "" {
			return new(int32(1)), nil
		}
		return new(int32(availableReplicas)), nil
	default:
		return nil, nil //nolint:nilnil // nil says that nothing is wanted
	}
}

// configureAvailability gives workloads what they need to survive the loss of a node or a zone (GRM-WH-HA-1).
func configureAvailability(d *Decider) admission.Handler {
	handlers := map[string]admission.Handler{
		"Deployment": mutate(func(ctx context.Context, request admission.Request, o *appsv1.Deployment) error {
			return d.spread(ctx, request, workload{Object: o, replicas: &o.Spec.Replicas, selector: o.Spec.Selector, pod: &o.Spec.Template.Spec})
		}),
		"StatefulSet": mutate(func(ctx context.Context, request admission.Request, o *appsv1.StatefulSet) error {
			return d.spread(ctx, request, workload{Object: o, replicas: &o.Spec.Replicas, selector: o.Spec.Selector, pod: &o.Spec.Template.Spec})
		}),
		"HorizontalPodAutoscaler": mutate(d.scale),
	}
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		if handler := handlers[request.Kind.Kind]; handler != nil {
			return handler.Handle(ctx, request)
		}
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("no rule for kind %q", request.Kind.Kind))
	})
}

// workload is a Deployment or a StatefulSet.
type workload struct {
	client.Object

	replicas **int32
	selector *metav1.LabelSelector
	pod      *corev1.PodSpec
}

func (d *Decider) surroundings(ctx context.Context, namespace string) (surroundings, error) {
	home := &corev1.Namespace{}
	if err := d.Seed.Get(ctx, client.ObjectKey{Name: namespace}, home); err != nil {
		return surroundings{}, fmt.Errorf("get namespace %q: %w", namespace, err)
	}
	return surroundingsOf(home.Annotations), nil
}

func (d *Decider) spread(ctx context.Context, request admission.Request, w workload) error {
	s, err := d.surroundings(ctx, request.Namespace)
	if err != nil {
		return err
	}
	wanted, err := s.replicas(w)
	if err != nil {
		return err
	}
	have := ptr.Deref(*w.replicas, 1)
	if wanted != nil && have != 0 {
		scaled, err := d.scaled(ctx, request)
		if err != nil {
			return err
		}
		if !scaled || have < *wanted {
			*w.replicas, have = wanted, *wanted
		}
	}
	spreadPods(w, have, s)
	leaveLostNodes(w.pod, d.Tolerations)
	return nil
}

// scaled reports whether an autoscaler owns the number of pods of a workload: it may ask for more.
func (d *Decider) scaled(ctx context.Context, request admission.Request) (bool, error) {
	scalers := &autoscalingv2.HorizontalPodAutoscalerList{}
	if err := d.Seed.List(ctx, scalers, client.InNamespace(request.Namespace)); err != nil {
		return false, fmt.Errorf("list autoscalers of namespace %q: %w", request.Namespace, err)
	}
	return slices.ContainsFunc(scalers.Items, func(h autoscalingv2.HorizontalPodAutoscaler) bool {
		return h.Spec.ScaleTargetRef.Kind == request.Kind.Kind && h.Spec.ScaleTargetRef.Name == request.Name
	}), nil
}

// scale raises the bounds of an autoscaler to the number of pods that its workload is to have.
func (d *Decider) scale(ctx context.Context, request admission.Request, scaler *autoscalingv2.HorizontalPodAutoscaler) error {
	s, err := d.surroundings(ctx, request.Namespace)
	if err != nil {
		return err
	}
	wanted, err := s.replicas(scaler)
	if err != nil || wanted == nil || *wanted == 0 {
		return err
	}
	if ptr.Deref(scaler.Spec.MinReplicas, 1) < *wanted {
		scaler.Spec.MinReplicas = wanted
	}
	scaler.Spec.MaxReplicas = max(scaler.Spec.MaxReplicas, *scaler.Spec.MinReplicas)
	return nil
}

// spreadPods keeps pods in the zones of their namespace, and spreads them.
func spreadPods(w workload, replicas int32, s surroundings) {
	pod := w.pod
	if len(s.zones) > 0 && (s.tolerance != "" || s.pinned) {
		keepInZones(pod, s.zones)
	}
	if replicas > 1 {
		hard := corev1.ScheduleAnyway
		if s.tolerance != "" {
			hard = corev1.DoNotSchedule
		}
		constrain(w, corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: hard})
		if zones := int32(len(s.zones)); zones >= 2 { //nolint:gosec // There are few zones.
			constrain(w, corev1.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: new(min(replicas, zones)),
			})
		}
	}
}

// leaveLostNodes has pods leave nodes that are not ready or do not answer, unless they say themselves what they tolerate.
func leaveLostNodes(pod *corev1.PodSpec, t NodeTolerations) {
	for _, taint := range []struct {
		key     string
		seconds *int64
	}{{corev1.TaintNodeNotReady, t.NotReady}, {corev1.TaintNodeUnreachable, t.Unreachable}} {
		tolerated := slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == taint.key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerated {
			pod.Tolerations = append(pod.Tolerations, corev1.Toleration{
				Key: taint.key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: new(ptr.Deref(taint.seconds, DefaultNodeToleration)),
			})
		}
	}
}

// constrain replaces the constraint of a topology, or adds one.
func constrain(w workload, c corev1.TopologySpreadConstraint) {
	pod := w.pod
	at := slices.IndexFunc(pod.TopologySpreadConstraints, func(o corev1.TopologySpreadConstraint) bool { return o.TopologyKey == c.TopologyKey })
	if at < 0 {
		c.LabelSelector = w.selector
		pod.TopologySpreadConstraints = append(pod.TopologySpreadConstraints, c)
		return
	}
	there := &pod.TopologySpreadConstraints[at]
	there.MaxSkew, there.WhenUnsatisfiable, there.MinDomains = c.MaxSkew, c.WhenUnsatisfiable, c.MinDomains
	there.LabelSelector = cmp.Or(there.LabelSelector, w.selector)
}

// keepInZones requires one of the zones in each alternative of the node affinity, instead of other zones that it names.
func keepInZones(pod *corev1.PodSpec, zones []string) {
	if pod.Affinity == nil {
		pod.Affinity = &corev1.Affinity{}
	}
	if pod.Affinity.NodeAffinity == nil {
		pod.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity := pod.Affinity.NodeAffinity
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchExpressions = slices.DeleteFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == corev1.LabelTopologyZone })
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: slices.Clone(zones),
		})
	}
}
