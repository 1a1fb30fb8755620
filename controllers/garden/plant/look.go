// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/terrarium-garden/terrarium/controllers/guard"
)

const (
	nodesPerPage = 50
	// maxNodes is far more than Kubernetes supports; a server that goes on after that is none.
	maxNodes = 20000
)

// Finding is what a look at a cluster found.
type Finding struct {
	// Unusable says why there is no way to the cluster; nothing else is known then.
	Unusable string
	// Down says why the API server is not available, and Answered whether it said so itself.
	Down     string
	Answered bool
	// Unlisted says why the nodes are not known.
	Unlisted string
	// Trouble names the first node that is not well, and says why.
	Trouble string
	// Version, Cloud and Region are what is known of the cluster.
	Version, Cloud, Region string
}

// looker looks at clusters.
type looker struct {
	guard  guard.Guard
	limits Limits
	// decoding is held while an answer is decoded: a hostile one takes many times its size.
	decoding *sync.Mutex
}

// look asks the cluster of a kubeconfig how it is (GCM-PLANT-3).
func (l looker) look(ctx context.Context, raw []byte) Finding {
	to, err := readAccess(raw)
	if err != nil {
		return Finding{Unusable: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, l.limits.Look)
	defer cancel()
	s := open(to, l.guard, l.limits)
	defer s.close()
	const healthz = "/healthz"
	_, status, err := s.get(ctx, healthz, nil, smallAnswer)
	switch {
	case errors.Is(err, guard.ErrForbidden):
		return Finding{Unusable: "the server in the kubeconfig: " + err.Error()}
	case err != nil:
		return Finding{Down: "the API server: " + err.Error(), Unlisted: "the API server is not available"}
	case status != http.StatusOK:
		return Finding{Down: answered(healthz, status).Error(), Answered: true, Unlisted: "the API server is not available"}
	}
	found := Finding{Version: l.version(ctx, s)}
	nodes, first, err := l.nodes(ctx, s)
	if err != nil {
		found.Unlisted = "the nodes cannot be listed: " + err.Error()
		return found
	}
	found.Trouble = nodes
	if first != nil {
		found.Cloud, found.Region = first.cloud(), first.region()
	}
	return found
}

// version returns the version of the cluster, or nothing.
func (l looker) version(ctx context.Context, s *session) string {
	body, status, err := s.get(ctx, "/version", nil, smallAnswer)
	if err != nil || status != http.StatusOK {
		return ""
	}
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := l.decode(body, &info); err != nil {
		return ""
	}
	return plain(info.GitVersion)
}

// nodes returns the trouble of the first node that is not well, and the first node of all.
func (l looker) nodes(ctx context.Context, s *session) (string, *node, error) {
	const path = "/api/v1/nodes"
	query := url.Values{"limit": {strconv.Itoa(nodesPerPage)}}
	var trouble string
	var first *node
	for seen := 0; ; {
		body, status, err := s.get(ctx, path, query, l.limits.Page)
		if err != nil {
			return "", nil, err
		}
		if status != http.StatusOK {
			return "", nil, answered(path, status)
		}
		var page nodeList
		// Kubernetes has no pages without nodes before others; a server could go on with those for ever.
		if err := l.decode(body, &page); err != nil || page.Kind != "NodeList" || len(page.Items) == 0 && page.Metadata.Continue != "" {
			return "", nil, errGarbled
		}
		for i := range page.Items {
			if first == nil {
				first = &page.Items[i]
			}
			if trouble == "" {
				trouble = page.Items[i].trouble()
			}
		}
		if seen += len(page.Items); page.Metadata.Continue == "" {
			return trouble, first, nil
		}
		if seen > maxNodes {
			return "", nil, errLarge
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

func (l looker) decode(body []byte, into any) error {
	l.decoding.Lock()
	defer l.decoding.Unlock()
	return json.Unmarshal(body, into)
}
