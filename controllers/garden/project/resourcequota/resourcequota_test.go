// SPDX-License-Identifier: Apache-2.0

package resourcequota_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/garden/project/resourcequota"
)

func TestRaise(t *testing.T) {
	t.Parallel()
	quota := func(configMaps, secrets string, hard corev1.ResourceList) *corev1.ResourceQuota {
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
		for name, value := range map[string]string{"configmaps": configMaps, "secrets": secrets} {
			if value != "" {
				q.Annotations["quota.gardener.cloud/"+name+"-per-shoot"] = value
			}
		}
		return q
	}
	hard := func(configMaps, secrets int64) corev1.ResourceList {
		return corev1.ResourceList{
			"count/configmaps": *resource.NewQuantity(configMaps, resource.DecimalSI), "count/secrets": *resource.NewQuantity(secrets, resource.DecimalSI),
		}
	}
	for name, tc := range map[string]struct {
		reason string
		have   *corev1.ResourceQuota
		want   *corev1.ResourceQuota
	}{
		"GCM-RQ-1 new":       {reason: "a new quota says what it is made for", have: quota("", "", hard(10, 20)), want: quota("2", "4", hard(10, 20))},
		"GCM-RQ-1 grown":     {reason: "it is raised by the difference times the shoots", have: quota("1", "1", hard(10, 20)), want: quota("2", "4", hard(17, 41))},
		"GCM-RQ-1 one":       {reason: "only where more is needed", have: quota("2", "3", hard(10, 20)), want: quota("2", "4", hard(10, 27))},
		"GCM-RQ-1 current":   {reason: "nothing is needed", have: quota("2", "4", hard(10, 20)), want: quota("2", "4", hard(10, 20))},
		"GCM-RQ-1 downgrade": {reason: "a quota that was made for more stays", have: quota("9", "9", hard(10, 20)), want: quota("9", "9", hard(10, 20))},
		"GCM-RQ-1 unlimited": {reason: "what is not limited is not limited now", have: quota("1", "1", nil), want: quota("2", "4", nil)},
		"GCM-RQ-1 typo":      {reason: "what is no number says nothing", have: quota("-5", "many", hard(10, 20)), want: quota("2", "4", hard(10, 20))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resourcequota.Raise(tc.have, 7)
			if diff := cmp.Diff(tc.want, tc.have); diff != "" {
				t.Errorf("%s\nRaise(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
