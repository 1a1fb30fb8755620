// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// housekeeping tells the resource manager of the seed when it defragments the etcd, and with which credentials (BAK-DEFRAG-1).
func housekeeping(f facts.Shoot, in *component.Inputs) map[string]string {
	return map[string]string{
		gardencorev1beta1.AnnotationDefragmentationSchedule: schedule(f, in.Kept),
		gardencorev1beta1.AnnotationETCDClientCertificate:   in.Secret(ClientCertificate).Name,
		gardencorev1beta1.AnnotationETCDAuthority:           in.Secret(gardencorev1beta1.SecretCAETCD).Bundle,
	}
}

// schedule is daily, in the maintenance time window that the shoot has when its etcd comes into being. One that the etcd has already stays, also
// where an operator has set it, unless it is of a form that is not used any more (BAK-DEFRAG-2, BAK-DEFRAG-3).
func schedule(f facts.Shoot, kept client.Object) string {
	if set, found := kept.(*appsv1.StatefulSet); found {
		if has := set.Annotations[gardencorev1beta1.AnnotationDefragmentationSchedule]; stays(has) {
			return has
		}
	}
	at := query.DailyTime(f.Shoot)
	return fmt.Sprintf("%d %d * * *", at%time.Hour/time.Minute, at/time.Hour)
}

// stays reports whether a schedule can be read and is not about every so many days: that begins anew with each month.
func stays(schedule string) bool {
	_, valid := validation.Cron(schedule)
	return valid && !strings.Contains(strings.Fields(schedule)[2], "/")
}
