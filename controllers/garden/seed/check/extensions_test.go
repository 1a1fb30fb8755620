// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
)

type status = gardencorev1beta1.ConditionStatus

// installation has the four conditions that count; an empty status leaves one out.
func installation(name string, valid, installed, healthy, progressing status) gardencorev1beta1.ControllerInstallation {
	result := gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, c := range []gardencorev1beta1.Condition{
		{Type: "Valid", Status: valid}, {Type: "Installed", Status: installed}, {Type: "Healthy", Status: healthy}, {Type: "Progressing", Status: progressing},
	} {
		if c.Status != "" {
			c.Message = "about " + string(c.Type)
			result.Status.Conditions = append(result.Status.Conditions, c)
		}
	}
	return result
}

func TestJudgeExtensions(t *testing.T) {
	t.Parallel()
	good := installation("good", "True", "True", "True", "False")
	cases := map[string]struct {
		reason        string
		installations []gardencorev1beta1.ControllerInstallation
		want          gardencorev1beta1.Condition
	}{
		"GCM-SEEDEXT-2 none": {
			reason: "a seed without extensions is ready",
			want:   gardencorev1beta1.Condition{Status: "True", Reason: "AllExtensionsReady", Message: "All extensions of the seed are installed and healthy"},
		},
		"GCM-SEEDEXT-2 good": {
			reason:        "four good conditions",
			installations: []gardencorev1beta1.ControllerInstallation{good},
			want:          gardencorev1beta1.Condition{Status: "True", Reason: "AllExtensionsReady", Message: "All extensions of the seed are installed and healthy"},
		},
		"GCM-SEEDEXT-2 no conditions": {
			reason:        "without any condition it is not installed",
			installations: []gardencorev1beta1.ControllerInstallation{good, installation("new", "", "", "", "")},
			want:          gardencorev1beta1.Condition{Status: "False", Reason: "NotAllExtensionsInstalled", Message: "new: it is not installed yet"},
		},
		"GCM-SEEDEXT-2 missing condition": {
			reason:        "a missing condition is not healthy",
			installations: []gardencorev1beta1.ControllerInstallation{installation("a", "True", "", "True", "False")},
			want:          gardencorev1beta1.Condition{Status: "False", Reason: "NotAllExtensionsHealthy", Message: "a: its condition Installed is missing"},
		},
		"GCM-SEEDEXT-2 missing conditions": {
			reason:        "of several the first one is named",
			installations: []gardencorev1beta1.ControllerInstallation{installation("a", "True", "", "", "False")},
			want:          gardencorev1beta1.Condition{Status: "False", Reason: "NotAllExtensionsHealthy", Message: "a: its condition Installed is missing"},
		},
		"GCM-SEEDEXT-2 precedence": {
			reason: "not valid weighs more than not installed, that more than not healthy, that more than progressing",
			installations: []gardencorev1beta1.ControllerInstallation{
				installation("d", "True", "True", "True", "True"), installation("c", "True", "True", "False", "False"),
				installation("b", "True", "False", "False", "True"), installation("a", "Unknown", "True", "True", "False"),
			},
			want: gardencorev1beta1.Condition{Status: "False", Reason: "NotAllExtensionsValid", Message: "a: about Valid"},
		},
		"GCM-SEEDEXT-2 progressing": {
			reason: "all that progress are named, sorted",
			installations: []gardencorev1beta1.ControllerInstallation{
				installation("b", "True", "True", "True", "Unknown"), installation("a", "True", "True", "True", "True"),
			},
			want: gardencorev1beta1.Condition{Status: "False", Reason: "SomeExtensionsProgressing", Message: "a: about Progressing; b: about Progressing"},
		},
		"GCM-SEEDEXT-2 bad and missing": {
			reason:        "a condition that is bad weighs more than one that is missing",
			installations: []gardencorev1beta1.ControllerInstallation{installation("a", "True", "", "True", "True")},
			want:          gardencorev1beta1.Condition{Status: "False", Reason: "SomeExtensionsProgressing", Message: "a: about Progressing"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.want.Type = "ExtensionsReady"
			if diff := cmp.Diff(tc.want, check.JudgeExtensions(tc.installations)); diff != "" {
				t.Errorf("%s\nJudgeExtensions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
