// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/component/verticalpodautoscaler"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/managed"
)

const (
	// sizingRights and sizingWebhook are the tasks for what is inside of the shoot, sizingAnswers is the one for the program that answers
	// the webhook. webhookGone is the task after which the API server asks it nothing any more.
	sizingRights  flow.ID = flow.ID(verticalpodautoscaler.Inside)
	sizingWebhook flow.ID = flow.ID(verticalpodautoscaler.Webhook)
	sizingAnswers flow.ID = flow.ID(verticalpodautoscaler.AdmissionController)
	webhookGone   flow.ID = sizingWebhook + "-gone"
	// webhookGoneTimeout is how long the resource manager may take to remove the webhook.
	webhookGoneTimeout = time.Minute
	webhookGonePoll    = 500 * time.Millisecond
)

// errWebhookThere is the answer while the resource manager removes the webhook.
var errWebhookThere = errors.New("the API server still asks what sizes pods")

// sizing is what sizes the pods of a shoot. The programs come after the kinds that they act on and before the API server asks one of them,
// and they go in the opposite order. They run only while the shoot is awake: nothing is sized while its pods go (GLET-HIB-4).
type sizing struct {
	ground

	secrets authorities
	images  map[string]string
	values  values
}

func (s sizing) fragment(found remains) fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.Sizing(), Facts: s.facts, Namespace: s.facts.Namespace,
		Engine:  func(context.Context) deploy.Engine { return s.engine() },
		Secrets: s.secrets.Manager, Images: s.images, Addresses: s.values.addresses,
	}
	awake, sized := s.facts.Power == facts.Awake, sizes(s.facts)
	sleeping := *components
	sleeping.Facts.Power = facts.Asleep
	order := assembly.Order{After: after("namespace", webhookGone)}
	if sized {
		order = assembly.Order{After: after("namespace", "resource-manager-access", sizingRights), Skip: !awake}
	}
	gone := flow.Task{
		ID: webhookGone, Title: "Waiting until the webhook that sizes pods is removed", After: after(sizingWebhook), Timeout: webhookGoneTimeout,
		Skip: sized || !awake, Do: s.awaitNoWebhook,
	}
	return fragment{
		deploy: append(
			append(components.Deploy(order), gone),
			sleeping.Stop(assembly.Order{After: after("namespace"), Skip: awake})...,
		),
		destroy: components.Delete(assembly.Order{Skip: !found.namespace}),
	}
}

// sizes reports whether the pods of a shoot are sized.
func sizes(f facts.Shoot) bool {
	return query.VerticalPodAutoscaler(&f.Shoot.Spec) != nil
}

// mounted are the Secrets in the pods of the programs. No run waits until these are ready.
func (s sizing) mounted(ctx context.Context) ([]string, error) {
	if !sizes(s.facts) {
		return nil, nil
	}
	var names []string
	for _, c := range lists.Sizing() {
		pods := &corev1.PodList{}
		of := client.MatchingLabels(component.ControlPlaneLabels("kubernetes", string(c.Name)))
		if err := s.seed.List(ctx, pods, client.InNamespace(s.facts.Namespace), of); err != nil {
			return nil, fmt.Errorf("list pods of %q: %w", c.Name, err)
		}
		for i := range pods.Items {
			names = append(names, secretsOf(&pods.Items[i])...)
		}
	}
	return names, nil
}

// secretsOf are the Secrets that a pod mounts.
func secretsOf(pod *corev1.Pod) []string {
	var names []string
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Secret != nil {
			names = append(names, volume.Secret.SecretName)
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.Secret != nil {
				names = append(names, source.Secret.Name)
			}
		}
	}
	return names
}

// besides is what the webhook comes after: the component that answers it.
func (s sizing) besides() map[component.Name][]flow.ID {
	if !sizes(s.facts) {
		return nil
	}
	return map[component.Name][]flow.ID{verticalpodautoscaler.Webhook: after(sizingAnswers)}
}

// awaitNoWebhook waits until the API server of the shoot does not know the webhook any more.
func (s sizing) awaitNoWebhook(ctx context.Context) error {
	set := managed.Set{Namespace: s.facts.Namespace, Name: systemSets + string(verticalpodautoscaler.Webhook)}
	return flow.Until(ctx, s.clock, flow.Every(webhookGonePoll), func(ctx context.Context) error {
		gone, err := set.Delete(ctx, s.engine())
		if err == nil && !gone {
			err = errWebhookThere
		}
		return err
	})
}

// stopped are the tasks after which nothing sizes pods of a shoot that falls asleep, deleted are those of one in deletion.
func (s sizing) stopped() []flow.ID { return s.ends("-stop-wait") }

func (s sizing) deleted() []flow.ID { return s.ends("-delete") }

func (s sizing) ends(suffix flow.ID) []flow.ID {
	var ids []flow.ID
	for _, c := range lists.Sizing() {
		ids = append(ids, c.TaskID()+suffix)
	}
	return ids
}
