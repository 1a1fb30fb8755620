// SPDX-License-Identifier: Apache-2.0

package join_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
)

func request(conditions ...certificatesv1.CertificateSigningRequestCondition) *certificatesv1.CertificateSigningRequest {
	return &certificatesv1.CertificateSigningRequest{Status: certificatesv1.CertificateSigningRequestStatus{Conditions: conditions}}
}

func seed(owner string, last *gardencorev1beta1.LastOperation, conditions ...gardencorev1beta1.Condition) *gardencorev1beta1.Seed {
	s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	if owner != "" {
		s.Status.ClusterIdentity = &owner
	}
	s.Status.LastOperation, s.Status.Conditions = last, conditions
	return s
}

func is(kind, status string) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionType(kind), Status: gardencorev1beta1.ConditionStatus(status), Message: "because"}
}

func installation(conditions ...gardencorev1beta1.Condition) gardencorev1beta1.ControllerInstallation {
	i := gardencorev1beta1.ControllerInstallation{}
	i.Spec.RegistrationRef.Name = "provider-local"
	i.Status.Conditions = conditions
	return i
}

func pod(status corev1.ContainerStatus, conditions ...corev1.PodCondition) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}, Conditions: conditions}}
}

func ended(code int32, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message},
	}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	succeeded := &gardencorev1beta1.LastOperation{State: "Succeeded", Progress: 100}
	healthy := []gardencorev1beta1.Condition{is("GardenletReady", "True"), is("SeedSystemComponentsHealthy", "True")}
	running := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 1},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
	}
	starting := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	prepared := []string{"Certificate issued and stored in the seed", "Seed registered: one", "Seed prepared", "GardenletReady", "SeedSystemComponentsHealthy"}
	type want struct {
		Done      []string
		Waiting   string // a part of it
		Connected bool
		Ready     bool
		Stuck     string
		Failed    string
	}
	cases := map[string]struct {
		reason   string
		observed join.Observation
		want     want
	}{
		"Nothing": {
			reason: "at the begin there is nothing to see", observed: join.Observation{Invited: true, Deployment: starting},
			want: want{Waiting: "request a certificate"},
		},
		"Problem": {
			reason:   "what the gardenlet says is shown while it tries again",
			observed: join.Observation{Invited: true, Problem: "the garden cannot be reached", Deployment: starting},
			want:     want{Waiting: "the garden cannot be reached"},
		},
		"Requested": {
			reason: "a request waits for its approval", observed: join.Observation{Invited: true, RequestName: "seed-csr-x", Request: request()},
			want: want{Done: []string{"Certificate requested: seed-csr-x"}, Waiting: "approve"},
		},
		"Approved": {
			reason: "an approved request waits for its signature",
			observed: join.Observation{Invited: true, RequestName: "seed-csr-x", Request: request(certificatesv1.CertificateSigningRequestCondition{
				Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
			})},
			want: want{Done: []string{"Certificate requested: seed-csr-x", "Request approved"}, Waiting: "sign"},
		},
		"Denied": {
			reason: "a refused request ends the join",
			observed: join.Observation{Invited: true, RequestName: "seed-csr-x", Request: request(certificatesv1.CertificateSigningRequestCondition{
				Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue, Reason: "NotYou", Message: "go away",
			})},
			want: want{Done: []string{"Certificate requested: seed-csr-x"}, Waiting: "approve", Failed: "NotYou: go away"},
		},
		"Stored": {
			reason: "with its certificate the gardenlet registers the seed", observed: join.Observation{Stored: true},
			want: want{Done: prepared[:1], Waiting: "register the seed"},
		},
		"NameTaken": {
			reason: "a Seed of another cluster is not ours", observed: join.Observation{Stored: true, Identity: "ours", Seed: seed("theirs", succeeded, healthy...)},
			want: want{Done: prepared[:1], Waiting: "another cluster"},
		},
		"Preparing": {
			reason: "from the registration on everything stays",
			observed: join.Observation{Stored: true, Seed: seed("", &gardencorev1beta1.LastOperation{
				State: "Processing", Progress: 40, Description: "Deploy definitions",
			})},
			want: want{Done: prepared[:2], Waiting: "40 %, Deploy definitions", Connected: true},
		},
		"Condition": {
			reason:   "conditions that are not True are explained",
			observed: join.Observation{Stored: true, Seed: seed("", succeeded, is("GardenletReady", "True"), is("SeedSystemComponentsHealthy", "False"))},
			want:     want{Done: prepared[:4], Waiting: "SeedSystemComponentsHealthy, which is False: because", Connected: true},
		},
		"Extension": {
			reason:   "extensions have to be installed and healthy",
			observed: join.Observation{Stored: true, Seed: seed("", succeeded, healthy...), Installations: []gardencorev1beta1.ControllerInstallation{installation(is("Installed", "True"), is("Healthy", "False"))}},
			want:     want{Done: prepared, Waiting: "provider-local (Healthy is False: because)", Connected: true},
		},
		"ExtensionsOfTheGarden": {
			reason:   "if the garden judges the extensions, its word counts",
			observed: join.Observation{Stored: true, Seed: seed("", succeeded, append(healthy, is("ExtensionsReady", "Progressing"))...)},
			want:     want{Done: prepared, Waiting: "ExtensionsReady", Connected: true},
		},
		"Ready": {
			reason: "a seed with everything is ready",
			observed: join.Observation{Stored: true, Deployment: running, Seed: seed("ours", succeeded, healthy...), Identity: "ours", Installations: []gardencorev1beta1.ControllerInstallation{
				installation(is("Installed", "True"), is("Healthy", "True")),
			}},
			want: want{Done: append(prepared[:5:5], "Extension installed: provider-local"), Connected: true, Ready: true},
		},
		"StillTheOldOne": {
			reason:   "a seed that was ready before is not the work of the gardenlet that is only starting",
			observed: join.Observation{Stored: true, Deployment: starting, Seed: seed("", succeeded, healthy...)},
			want:     want{Done: prepared, Waiting: "Deployment of the gardenlet", Connected: true},
		},
		"NotInvitedYet": {
			reason:   "nor of one that has not taken up its invitation",
			observed: join.Observation{Stored: true, Invited: true, Problem: "no way", Deployment: running, Seed: seed("", succeeded, healthy...)},
			want:     want{Done: prepared, Waiting: "invitation, which says: no way", Connected: true},
		},
		"NoImage": {
			reason: "a missing image is named; it may be on its way",
			observed: join.Observation{Deployment: starting, Pods: []corev1.Pod{pod(corev1.ContainerStatus{
				Image: "example.org/terrarium:v9", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such host"}},
			})}},
			want: want{Waiting: "example.org/terrarium:v9", Stuck: "no such host"},
		},
		"NoNode": {
			reason: "a pod without a node says what it lacks",
			observed: join.Observation{Deployment: starting, Pods: []corev1.Pod{pod(corev1.ContainerStatus{}, corev1.PodCondition{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available",
			})}},
			want: want{Waiting: "0/1 nodes are available"},
		},
		"NoPod": {
			reason: "a pod that cannot be created may be helped",
			observed: join.Observation{Deployment: &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota"},
			}}}},
			want: want{Waiting: "exceeded quota", Stuck: "exceeded quota"},
		},
		"Warning": {
			reason:   "what the cluster says against the pod is passed on",
			observed: join.Observation{Invited: true, Deployment: starting, Warnings: []string{"old: news", "FailedCreatePodSandBox: no cgroup"}},
			want:     want{Waiting: "FailedCreatePodSandBox: no cgroup"},
		},
		"OldWarning": {
			reason:   "until the gardenlet is seen at work",
			observed: join.Observation{Invited: true, RequestName: "seed-csr-x", Deployment: starting, Warnings: []string{"Unhealthy: not yet"}},
			want:     want{Done: []string{"Certificate requested: seed-csr-x"}, Waiting: "approve"},
		},
		"Ended": {
			reason:   "a gardenlet that ends by itself has the last word",
			observed: join.Observation{Deployment: starting, Pods: []corev1.Pod{pod(ended(1, "{\"level\":\"INFO\"}\nError: the token is unknown\nHint: make a new one\n"))}},
			want:     want{Waiting: "request a certificate", Failed: "the token is unknown\nHint: make a new one"},
		},
		"Killed": {
			reason:   "one that was killed has nothing to say",
			observed: join.Observation{Deployment: starting, Pods: []corev1.Pod{pod(ended(137, "whatever"))}},
			want:     want{Waiting: "request a certificate"},
		},
		"Unread": {
			reason:   "why the garden does not answer is told",
			observed: join.Observation{Stored: true, Unread: errors.New("connection refused"), Deployment: running},
			want:     want{Done: prepared[:1], Waiting: "the garden to answer with the credentials of the gardenlet: connection refused"},
		},
		"UnreadExtensions": {
			reason: "extensions that cannot be read are not ready, and the seed is registered nevertheless",
			observed: join.Observation{
				Stored: true, Seed: seed("", succeeded, healthy...), Unread: errors.New("forbidden"), Deployment: running,
			},
			want: want{Done: prepared, Waiting: "forbidden", Connected: true},
		},
		"EndedLater": {
			reason:   "once the seed is registered, a gardenlet may come back",
			observed: join.Observation{Stored: true, Seed: seed("", nil), Deployment: starting, Pods: []corev1.Pod{pod(ended(1, "Error: oops"))}},
			want:     want{Done: prepared[:2], Waiting: "prepare the seed", Connected: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := join.Judge(tc.observed)
			text := func(err error) string {
				if err == nil {
					return ""
				}
				return err.Error()
			}
			for what, pair := range map[string][2]string{
				"Waiting": {got.Waiting, tc.want.Waiting}, "Stuck": {text(got.Stuck), tc.want.Stuck}, "Failed": {text(got.Failed), tc.want.Failed},
			} {
				if !strings.Contains(pair[0], pair[1]) || (pair[1] == "") != (pair[0] == "") {
					t.Errorf("%s\nJudge(...).%s: got %q, want %q", tc.reason, what, pair[0], pair[1])
				}
			}
			if diff := cmp.Diff(tc.want.Done, got.Done); diff != "" {
				t.Errorf("%s\nJudge(...).Done (-want +got):\n%s", tc.reason, diff)
			}
			if got.Connected != tc.want.Connected || got.Ready != tc.want.Ready {
				t.Errorf("%s\nJudge(...): got connected %t and ready %t, want %t and %t", tc.reason, got.Connected, got.Ready, tc.want.Connected, tc.want.Ready)
			}
		})
	}
}
