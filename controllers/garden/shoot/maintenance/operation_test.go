// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/maintenance"
)

const (
	operation = "gardener.cloud/operation"
	later     = "maintenance.gardener.cloud/operation"
	retry     = "maintenance.shoot.gardener.cloud/needs-retry-operation"
	taskKey   = "shoot.gardener.cloud/tasks"
)

func annotated(pairs ...string) change {
	return func(s *gardencorev1beta1.Shoot) {
		for i := 0; i < len(pairs); i += 2 {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, pairs[i], pairs[i+1])
		}
	}
}

func last(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) change {
	return func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
	}
}

// unborn is a shoot that has had no operation yet.
func unborn(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }

func TestAnnotations(t *testing.T) {
	t.Parallel()
	const tasks = "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress"
	failed := last("Reconcile", "Failed")
	for name, tc := range map[string]struct {
		reason   string
		shoot    *gardencorev1beta1.Shoot
		settings maintenance.Settings
		want     map[string]string
	}{
		"GCM-MAINT-8 plain":         {reason: "the shoot is reconciled", shoot: shoot(), want: map[string]string{operation: "reconcile", taskKey: tasks}},
		"GCM-MAINT-8 asked":         {reason: "the request is answered", shoot: shoot(annotated(operation, "maintain")), want: map[string]string{operation: "reconcile", taskKey: tasks}},
		"GCM-MAINT-8 later":         {reason: "what was left for the window is done", shoot: shoot(annotated(later, "rotate-ca-start")), want: map[string]string{operation: "rotate-ca-start", taskKey: tasks}},
		"GCM-MAINT-8 several":       {reason: "all of it", shoot: shoot(annotated(later, "rotate-ca-start;rotate-ssh-keypair")), want: map[string]string{operation: "rotate-ca-start;rotate-ssh-keypair", taskKey: tasks}},
		"GCM-MAINT-8 both":          {reason: "the request is answered, too", shoot: shoot(annotated(operation, "maintain", later, "reconcile")), want: map[string]string{operation: "reconcile", taskKey: tasks}},
		"GCM-MAINT-8 pending":       {reason: "an operation that is requested stays", shoot: shoot(annotated(operation, "rotate-ca-start")), want: map[string]string{operation: "rotate-ca-start;reconcile", taskKey: tasks}},
		"GCM-MAINT-8 stale":         {reason: "a retry of what has not failed is void, and cannot be combined", shoot: shoot(annotated(operation, "retry")), want: map[string]string{operation: "reconcile", taskKey: tasks}},
		"GCM-MAINT-8 endless":       {reason: "a maintenance does not ask for the next one", shoot: shoot(annotated(later, "maintain")), want: map[string]string{operation: "reconcile", taskKey: tasks}},
		"GCM-MAINT-8 failed":        {reason: "its owner has to act", shoot: shoot(failed), want: map[string]string{taskKey: tasks}},
		"GCM-MAINT-8 failed, asked": {reason: "the request is answered, no operation begins", shoot: shoot(failed, annotated(operation, "maintain", later, "rotate-ca-start")), want: map[string]string{later: "rotate-ca-start", taskKey: tasks}},
		"GCM-MAINT-8 retry":         {reason: "a change waits for it", shoot: shoot(failed, annotated(retry, "true", later, "rotate-ca-start")), want: map[string]string{operation: "retry", later: "rotate-ca-start", taskKey: tasks}},
		"GCM-MAINT-8 retry first":   {reason: "a retry takes the place of what cannot be combined with it", shoot: shoot(failed, annotated(retry, "true", operation, "reconcile;rotate-ca-start", later, "rotate-ssh-keypair")), want: map[string]string{operation: "retry", later: "rotate-ssh-keypair", taskKey: tasks}},
		"GCM-MAINT-8 no retry":      {reason: "no change waits for it", shoot: shoot(failed, annotated(retry, "false")), want: map[string]string{retry: "false", taskKey: tasks}},
		"GCM-MAINT-8 no failure":    {reason: "only a failure is retried", shoot: shoot(annotated(retry, "true")), want: map[string]string{operation: "reconcile", retry: "true", taskKey: tasks}},
		"GCM-MAINT-8 not created":   {reason: "only a failure excepts a shoot", shoot: shoot(unborn), want: map[string]string{operation: "reconcile", taskKey: tasks}},
		"GCM-MAINT-8 for creation":  {reason: "what was left for the window is begun there, too", shoot: shoot(unborn, annotated(later, "rotate-ssh-keypair")), want: map[string]string{operation: "rotate-ssh-keypair", taskKey: tasks}},
		"GCM-MAINT-9 once":          {reason: "each task once", shoot: shoot(annotated(taskKey, "deployDNSRecordExternal, other")), want: map[string]string{operation: "reconcile", taskKey: "deployDNSRecordExternal,other,deployInfrastructure,deployDNSRecordInternal,deployDNSRecordIngress"}},
		"GCM-MAINT-9 restarts": {
			reason: "restarts where they are configured", shoot: shoot(), settings: maintenance.Settings{RestartControlPlane: true, RestartCoreAddons: true},
			want: map[string]string{operation: "reconcile", taskKey: tasks + ",restartControlPlanePods,restartCoreAddons"},
		},
		"GCM-MAINT-9 control plane": {
			reason: "by default that of the control plane only", shoot: shoot(), settings: maintenance.Settings{RestartControlPlane: true},
			want: map[string]string{operation: "reconcile", taskKey: tasks + ",restartControlPlanePods"},
		},
		"GCM-MAINT-9 add-ons": {
			reason: "or that of the add-ons only", shoot: shoot(), settings: maintenance.Settings{RestartCoreAddons: true},
			want: map[string]string{operation: "reconcile", taskKey: tasks + ",restartCoreAddons"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.settings.Served = servedAll
			plan := maintenance.Make(tc.shoot, offers("1.33.1", "1.0.0"), tc.settings, now())
			if diff := cmp.Diff(tc.want, plan.Annotations); diff != "" {
				t.Errorf("%s\nannotations (-want +got):\n%s", tc.reason, diff)
			}
			if len(plan.Steps) > 0 {
				t.Errorf("%s\nsteps %v, want none", tc.reason, plan.Steps)
			}
		})
	}
}

func TestRotations(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	every := func(d time.Duration) change {
		return func(s *gardencorev1beta1.Shoot) {
			one := &gardencorev1beta1.MaintenanceRotationConfig{RotationPeriod: &metav1.Duration{Duration: d}}
			s.Spec.Maintenance.AutoRotation = &gardencorev1beta1.MaintenanceAutoRotation{Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{
				ETCDEncryptionKey: one, Observability: one, SSHKeypair: one,
			}}
		}
	}
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now().Add(-d)} }
	// rotated gives a shoot the times since each rotation was finished, and the SSH key the time since it was begun again.
	rotated := func(ssh, begun, observability, etcd time.Duration, phase string) change {
		return func(s *gardencorev1beta1.Shoot) {
			s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
				SSHKeypair:        &gardencorev1beta1.ShootSSHKeypairRotation{LastCompletionTime: ago(ssh), LastInitiationTime: ago(begun)},
				Observability:     &gardencorev1beta1.ObservabilityRotation{LastCompletionTime: ago(observability)},
				ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{LastCompletionTime: ago(etcd), Phase: gardencorev1beta1.CredentialsRotationPhase(phase)},
			}}
		}
	}
	const all = "reconcile;rotate-ssh-keypair;rotate-observability-credentials;rotate-etcd-encryption-key"
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		served func(string) bool
		want   string
	}{
		"GCM-MAINT-14 never rotated": {reason: "the age of the shoot counts", shoot: shoot(every(day)), want: all},
		"GCM-MAINT-14 young":         {reason: "a young shoot needs none", shoot: shoot(every(1001 * time.Hour)), want: "reconcile"},
		"GCM-MAINT-14 off":           {reason: "zero means never", shoot: shoot(every(0)), want: "reconcile"},
		"GCM-MAINT-14 due":           {reason: "the last one is too long ago", shoot: shoot(every(day), rotated(day, 2*day, day, day, "Completed")), want: all},
		"GCM-MAINT-14 not due":       {reason: "one hour is missing", shoot: shoot(every(day), rotated(23*time.Hour, day, 23*time.Hour, 23*time.Hour, "Completed")), want: "reconcile"},
		"GCM-MAINT-14 some":          {reason: "each for itself", shoot: shoot(every(day), rotated(day, 2*day, time.Hour, time.Hour, "Completed")), want: "reconcile;rotate-ssh-keypair"},
		"GCM-MAINT-14 under way":     {reason: "one that has begun is not begun again", shoot: shoot(every(day), rotated(2*day, day, time.Hour, 2*day, "Preparing")), want: "reconcile"},
		"GCM-MAINT-14 with others":   {reason: "the operation for this window is done, too", shoot: shoot(every(day), rotated(day, 2*day, time.Hour, time.Hour, ""), annotated(later, "rotate-ca-start")), want: "rotate-ca-start;rotate-ssh-keypair"},
		"GCM-MAINT-14 requested":     {reason: "not twice", shoot: shoot(every(day), annotated(later, "rotate-credentials-start")), want: "rotate-credentials-start"},
		"GCM-MAINT-14 in steps":      {reason: "the owner does it in steps", shoot: shoot(every(day), rotated(time.Hour, day, time.Hour, day, ""), annotated(operation, "rotate-etcd-encryption-key-start")), want: "rotate-etcd-encryption-key-start;reconcile"},
		"GCM-MAINT-14 asleep": {reason: "the key needs a running cluster", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		}), want: "reconcile;rotate-ssh-keypair;rotate-observability-credentials"},
		"GCM-MAINT-14 waking up":   {reason: "so does one that wakes up", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true }), want: "reconcile;rotate-ssh-keypair;rotate-observability-credentials"},
		"GCM-MAINT-14 not created": {reason: "a shoot that is being created is refused", shoot: shoot(every(day), last("Create", "Error")), want: "reconcile;rotate-ssh-keypair;rotate-observability-credentials"},
		"GCM-MAINT-14 encrypting": {reason: "a change of what is encrypted comes first", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) {
			s.Status.EncryptedResources = []string{"configmaps"}
		}), want: "reconcile;rotate-ssh-keypair;rotate-observability-credentials"},
		"GCM-MAINT-14 without SSH": {reason: "there is no key pair", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
		}), want: "reconcile;rotate-observability-credentials;rotate-etcd-encryption-key"},
		"GCM-MAINT-14 no credentials": {reason: "nothing is to be rotated", shoot: shoot(func(s *gardencorev1beta1.Shoot) {
			s.Spec.Maintenance.AutoRotation = &gardencorev1beta1.MaintenanceAutoRotation{}
		}), want: "reconcile"},
		"GCM-MAINT-14 one": {reason: "each has a period of its own, or none", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) {
			c := s.Spec.Maintenance.AutoRotation.Credentials
			c.Observability, c.ETCDEncryptionKey = &gardencorev1beta1.MaintenanceRotationConfig{}, nil
		}), want: "reconcile;rotate-ssh-keypair"},
		"GCM-MAINT-14 no rotations": {reason: "the status knows of none", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) {
			s.Status.Credentials = &gardencorev1beta1.ShootCredentials{}
		}), want: all},
		"GCM-MAINT-14 brand-new":  {reason: "nothing is there yet", shoot: shoot(every(day), func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }), want: "reconcile"},
		"GCM-MAINT-8 once":        {reason: "what is asked for now and then is done once", shoot: shoot(annotated(operation, "reconcile")), want: "reconcile"},
		"GCM-MAINT-14 failed":     {reason: "a failed shoot does nothing else", shoot: shoot(every(day), last("Reconcile", "Failed")), want: ""},
		"GCM-MAINT-14 not served": {reason: "nobody would carry it out", shoot: shoot(every(day)), served: func(op string) bool { return op == "rotate-ssh-keypair" }, want: "reconcile;rotate-ssh-keypair"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.served == nil {
				tc.served = servedAll
			}
			plan := maintenance.Make(tc.shoot, offers("1.33.1", "1.0.0"), maintenance.Settings{Served: tc.served}, now())
			if diff := cmp.Diff(tc.want, plan.Annotations[operation]); diff != "" {
				t.Errorf("%s\noperation (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want == "" && len(plan.Steps) > 0 {
				t.Errorf("%s\nwhat does not begin is not told: %+v", tc.reason, plan.Steps)
			}
		})
	}
}

// TestBegun_GCM_MAINT_12 has a maintenance that was interrupted in a window that lasts the whole day, before and after its minute.
func TestBegun_GCM_MAINT_12(t *testing.T) {
	t.Parallel()
	found := map[maintenance.Action]bool{}
	for n := range 50 {
		s := shoot(func(s *gardencorev1beta1.Shoot) {
			s.UID, s.Spec.Maintenance.TimeWindow = types.UID(strconv.Itoa(n)), nil
		})
		before, _ := maintenance.Decide(s, now())
		found[before] = true
		s.Status.LastMaintenance = &gardencorev1beta1.LastMaintenance{State: "Processing", TriggeredTime: metav1.NewTime(now())}
		if got, _ := maintenance.Decide(s, now()); got != maintenance.Maintain {
			t.Errorf("shoot %d: %s, want it to be finished as long as the window is open", n, got)
		}
	}
	if !found[maintenance.Rest] || !found[maintenance.Maintain] {
		t.Errorf("shoots have their minutes before and after now, got %v", found)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	// The window of these shoots is open from 03:00 to 03:45, and it is now 03:30. In a window of one minute the minute is known.
	at := func(begin, end string) change {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Maintenance.TimeWindow = &gardencorev1beta1.MaintenanceTimeWindow{Begin: begin, End: end}
		}
	}
	open, closed := at("033000+0000", "034530+0000"), at("040000+0000", "041530+0000")
	done := func(state gardencorev1beta1.LastOperationState, ago time.Duration) change {
		return func(s *gardencorev1beta1.Shoot) {
			s.Status.LastMaintenance = &gardencorev1beta1.LastMaintenance{State: state, TriggeredTime: metav1.NewTime(now().Add(-ago))}
		}
	}
	const day = 24 * time.Hour
	madeAhead := func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = metav1.NewTime(now().Add(30 * day)) }
	written := func(ago time.Duration) change {
		return annotated("maintenance.shoot.gardener.cloud/trigger-timestamp", now().Add(-ago).Format(time.RFC3339))
	}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   maintenance.Action
		after  time.Duration
	}{
		"GCM-MAINT-1 open":         {"the window is open", shoot(open), maintenance.Maintain, day},
		"GCM-MAINT-1 closed":       {"the window is closed", shoot(closed), maintenance.Rest, 30 * time.Minute},
		"GCM-MAINT-1 yesterday":    {"once a day", shoot(open, done("Succeeded", day)), maintenance.Maintain, day},
		"GCM-MAINT-1 today":        {"and not twice", shoot(open, done("Succeeded", 0)), maintenance.Rest, day},
		"GCM-MAINT-1 failed today": {"also if it failed", shoot(open, done("Failed", 0)), maintenance.Rest, day},
		"GCM-MAINT-1 asked":        {"the owner asks for it", shoot(closed, annotated(operation, "maintain")), maintenance.Maintain, 30 * time.Minute},
		"GCM-MAINT-1 asked again":  {"also after the one of today", shoot(open, done("Succeeded", 0), annotated(operation, "maintain")), maintenance.Maintain, day},
		"GCM-MAINT-1 clock ahead":  {"a time that is far in the future is of a clock that was wrong", shoot(open, done("Succeeded", -30*day)), maintenance.Maintain, day},
		"GCM-MAINT-1 clock set":    {"a clock that is set back a little repeats nothing", shoot(open, done("Succeeded", -time.Minute)), maintenance.Rest, day},
		"GCM-MAINT-1 new":          {"a shoot that was just made has nothing to catch up with", shoot(open, func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = metav1.NewTime(now()) }), maintenance.Rest, day},
		"GCM-MAINT-1 made ahead":   {"one that was made by a clock that was wrong is maintained all the same", shoot(open, madeAhead), maintenance.Maintain, day},
		"GCM-MAINT-1 ahead, today": {"once a day", shoot(open, madeAhead, done("Succeeded", 0)), maintenance.Rest, day},
		"GCM-MAINT-1 no window":    {"without a window it is always open", shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Maintenance = nil }, done("Succeeded", 0)), maintenance.Rest, 0},
		"GCM-MAINT-12 interrupted": {"what was interrupted is repeated", shoot(open, done("Processing", 0)), maintenance.Maintain, day},
		"GCM-MAINT-12 too late":    {"but not after the window", shoot(closed, done("Processing", 0)), maintenance.Settle, 30 * time.Minute},
		"GCM-MAINT-12 written":     {"what was written is only reported", shoot(open, done("Processing", 0), written(0)), maintenance.Settle, day},
		"GCM-MAINT-12 written before": {
			"what was written before is not what was announced", shoot(open, done("Processing", 0), written(time.Minute)), maintenance.Maintain, day,
		},
		"GCM-MAINT-12 written, too late":  {"it is reported after the window as well", shoot(closed, done("Processing", 0), written(0)), maintenance.Settle, 30 * time.Minute},
		"GCM-MAINT-12 written yesterday":  {"the report of today tells more", shoot(open, done("Processing", day), written(day)), maintenance.Maintain, day},
		"GCM-MAINT-12 written, and asked": {"the owner wants another one", shoot(open, done("Processing", 0), written(0), annotated(operation, "maintain")), maintenance.Maintain, day},
		"GCM-MAINT-12 reported":           {"nothing is left to report", shoot(open, done("Succeeded", 0), written(0)), maintenance.Rest, day},
		"GCM-MAINT-3 deletion":            {"what is being deleted is not maintained", shoot(open, annotated(operation, "maintain"), func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.NewTime(now())) }), maintenance.Rest, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, next := maintenance.Decide(tc.shoot, now())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
			if tc.after != 0 && !next.Equal(now().Add(tc.after)) {
				t.Errorf("%s\nnext at %s, want %s", tc.reason, next, now().Add(tc.after))
			}
		})
	}
}
