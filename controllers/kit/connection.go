// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// Tune sets what a configuration file says about the requests to an API server: how many there may be, and in which formats (GLET-CFG-1).
func Tune(config *rest.Config, c gardenconfigv1alpha1.ClientConnectionConfiguration) {
	config.QPS, config.Burst = c.QPS, int(c.Burst)
	tuneFormats(config, c)
}

// tuneFormats sets the formats. JSON is always accepted, because many kinds have no other format.
func tuneFormats(config *rest.Config, c gardenconfigv1alpha1.ClientConnectionConfiguration) {
	config.ContentType, config.AcceptContentTypes = c.ContentType, c.AcceptContentTypes
	// Clients choose protobuf by themselves, for the kinds that have it. If it is named they write all kinds in it, and fail.
	if config.ContentType == runtime.ContentTypeProtobuf {
		config.ContentType = ""
	}
	if config.AcceptContentTypes != "" && !strings.Contains(config.AcceptContentTypes, runtime.ContentTypeJSON) {
		config.AcceptContentTypes += "," + runtime.ContentTypeJSON
	}
}

// limiter is the limit that all clients of one shoot share.
func limiter(c gardenconfigv1alpha1.ClientConnectionConfiguration) flowcontrol.RateLimiter {
	qps := cmp.Or(c.QPS, shootQPS)
	if qps < 0 {
		return flowcontrol.NewFakeAlwaysRateLimiter()
	}
	return flowcontrol.NewTokenBucketRateLimiter(qps, int(cmp.Or(c.Burst, shootBurst)))
}
