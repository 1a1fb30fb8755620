// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"time"

	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/apis/appliance/query"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func newTable() rest.TableConvertor {
	return kind.NewTable(
		kind.Column[*timeline.Entry]{Name: "Time", Cell: func(e *timeline.Entry) string { return e.Time.UTC().Format(time.RFC3339) }},
		kind.Column[*timeline.Entry]{Name: "Object", Cell: func(e *timeline.Entry) string { return e.Subject.Kind + "/" + e.Subject.Name }},
		kind.Column[*timeline.Entry]{Name: "Type", Cell: func(e *timeline.Entry) string { return string(e.Type) }},
		kind.Column[*timeline.Entry]{Name: "What", Cell: query.Summary},
		kind.Column[*timeline.Entry]{Name: "User", Wide: true, Cell: func(e *timeline.Entry) string { return query.Who(e.User) }},
		kind.Column[*timeline.Entry]{},
	)
}
