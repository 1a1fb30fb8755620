// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// countWatches has the limits of requests know what a watch costs here.
//
// The library reckons that a write has every watch of its kind prepare an event, and keeps the write's place among the requests that
// are worked on for that time afterwards: for a shoot that 1,000 gardenlets watch, one of them each, ten places for half a
// second. All other requests waited for these places, with the processors idle. It is true of a watch cache, and so of watches of a datastore elsewhere.
func (c *completed) countWatches(config *genericapiserver.Config) {
	if config.FlowControl != nil && len(c.logs()) > 0 {
		config.FlowControl = soughtApart{config.FlowControl}
	}
}

// soughtApart does not count watches that are found by what they require: a change costs nothing for those that it does not concern.
type soughtApart struct{ utilflowcontrol.Interface }

// RegisterWatch implements utilflowcontrol.WatchTracker.
func (s soughtApart) RegisterWatch(r *http.Request) utilflowcontrol.ForgetWatchFunc {
	if sought(r) {
		return nil
	}

	return s.Interface.RegisterWatch(r)
}

// sought says whether a watch is found by what it requires. What is no selector is refused by the API. A watch that begins with whatever the watch
// cache has is one of the cache, which asks it about each change.
func sought(r *http.Request) bool {
	query := r.URL.Query()
	if version := query.Get("resourceVersion"); version == "" || version == "0" {
		if state, err := strconv.ParseBool(query.Get("sendInitialEvents")); err != nil || !state {
			return false
		}
	}
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return false
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))

	return err == nil && fresh.Sought(byLabel, byField)
}
