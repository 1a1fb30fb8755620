// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// trickle sends a byte now and then, for as long as somebody reads.
func trickle(w http.ResponseWriter, r *http.Request) {
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-ticks.C:
			_, _ = w.Write([]byte("o"))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// flood sends nodes for as long as somebody reads.
func flood(w http.ResponseWriter, _ *http.Request) {
	_, err := w.Write([]byte(`{"kind":"NodeList","items":[`))
	for err == nil {
		_, err = w.Write([]byte(`{"metadata":{"name":"` + strings.Repeat("x", 4096) + `"}},`))
	}
}

// many makes nodes.
func many(count int) []corev1.Node {
	all := make([]corev1.Node, 0, count)
	for i := range count {
		all = append(all, machine(fmt.Sprintf("n%d", i), "", ""))
	}
	return all
}
