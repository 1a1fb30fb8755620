// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Names of the flow schemas of gardenlets with their precedences, which are next to those that the nodes of a cluster have, and of the
// priority levels that they use: one of Kubernetes for heartbeats, and one of the garden.
const (
	flowHeartbeats       = "gardenlet-heartbeats"
	levelHeartbeats      = "node-high"
	precedenceHeartbeats = 410

	flowGardenlets       = "gardenlets"
	precedenceGardenlets = 510
)

// Of the 600 requests that the server works on at a time, 15 may be requests of gardenlets that are not heartbeats: each takes processor time
// from all heartbeats, of which more are worked on at a time, as they wait for the disk. As the hand is more than half of 15, each
// counts once, however large the library takes what it lists to be: a gardenlet lists what belongs to its seed.
const (
	sharesGardenlets = 6
	queuesGardenlets = 128
	handGardenlets   = 8
	queuedGardenlets = 50
)

// flows returns the flow schemas of gardenlets. Without them, gardenlets share a priority level with all users: a thousand of them that
// come back after a restart would keep users waiting, and their heartbeats would wait for their lists and watches. Each gardenlet is a flow of
// its own, so that one that asks for too much waits for itself.
func flows() []object {
	return []object{
		level(flowGardenlets),
		flow(flowHeartbeats, levelHeartbeats, precedenceHeartbeats, flowcontrolv1.PolicyRulesWithSubjects{
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
				Verbs: []string{all}, APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"},
				Namespaces: []string{gardencorev1beta1.NamespaceSeedLease},
			}},
		}),
		flow(flowGardenlets, flowGardenlets, precedenceGardenlets, flowcontrolv1.PolicyRulesWithSubjects{
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
				Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}, Namespaces: []string{all}, ClusterScope: true,
			}},
			NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{all}, NonResourceURLs: []string{all}}},
		}),
	}
}

// level returns a priority level that neither lends nor borrows.
func level(name string) object {
	limits := &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: new(int32(sharesGardenlets)), LendablePercent: new(int32(0)), BorrowingLimitPercent: new(int32(0)),
		LimitResponse: flowcontrolv1.LimitResponse{
			Type:    flowcontrolv1.LimitResponseTypeQueue,
			Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queuesGardenlets, HandSize: handGardenlets, QueueLengthLimit: queuedGardenlets},
		},
	}

	return object{
		resource: flowcontrolv1.SchemeGroupVersion.WithResource("prioritylevelconfigurations"),
		value: &flowcontrolv1.PriorityLevelConfiguration{
			TypeMeta:   metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "PriorityLevelConfiguration"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       flowcontrolv1.PriorityLevelConfigurationSpec{Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: limits},
		},
	}
}

// flow returns the flow schema of what gardenlets ask for, with a flow for each of them.
func flow(name, level string, precedence int32, rules flowcontrolv1.PolicyRulesWithSubjects) object {
	rules.Subjects = []flowcontrolv1.Subject{{
		Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: gardencorev1beta1.GroupSeeds},
	}}

	return object{
		resource: flowcontrolv1.SchemeGroupVersion.WithResource("flowschemas"),
		value: &flowcontrolv1.FlowSchema{
			TypeMeta:   metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "FlowSchema"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: flowcontrolv1.FlowSchemaSpec{
				PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level},
				MatchingPrecedence:         precedence,
				DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
				Rules:                      []flowcontrolv1.PolicyRulesWithSubjects{rules},
			},
		},
	}
}
