// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/tokenkeys"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

// readyInterval is the time between two requests of the server's own checks while it starts.
const readyInterval = 20 * time.Millisecond

// errEnded says that the server stopped by itself.
var errEnded = errors.New("it stopped by itself")

// Server is the API server of a garden, built but not started. Only Completed.New returns one.
type Server struct {
	aggregator *aggregatorapiserver.APIAggregator
	later      []ReadyCheck
	sources    sources
	seeds      *seedAuthorization
	recorder   *timeline.Recorder
	office     *revoked.Office
	tokens     *tokenkeys.Verifier
	encryption *encryption
}

// New builds the server. It connects to the stores, which have to be running.
func (c Completed) New() (*Server, error) {
	ch, err := c.configureChain()
	if err != nil {
		return nil, err
	}
	aggregator, err := ch.build()
	if err != nil {
		return nil, err
	}

	return &Server{
		aggregator: aggregator, later: c.ReadyChecks, sources: ch.garden.sources, seeds: c.seeds, recorder: ch.garden.recorder, office: c.office, tokens: c.tokens,
		encryption: c.encryption,
	}, nil
}

// Revoked are the seeds that are shut out.
func (s *Server) Revoked() *revoked.Set { return s.office.Set }

// TokenKeysChanged publishes the keys of service account tokens anew. Tokens are signed and verified with the current ones anyway.
func (s *Server) TokenKeysChanged() { s.tokens.Changed() }

// LoopbackConfig returns a client configuration for this server within the process, with all permissions and without a rate
// limit.
func (s *Server) LoopbackConfig() *rest.Config {
	config := rest.CopyConfig(s.aggregator.GenericAPIServer.LoopbackClientConfig)
	config.QPS = -1
	// Not all kinds have protobuf; clients of kinds with it set the content type themselves.
	config.ContentType = ""

	return config
}

// Run serves until ctx is done, and then finishes the requests in flight. It calls ready once every check of /readyz except
// the given ReadyChecks succeeds. A start is never interrupted, because the library would end the process if its start hooks
// fail. So if ctx is done early, Run returns only after the server has become ready. A Server can run once.
func (s *Server) Run(ctx context.Context, ready func()) error {
	prepared, err := s.aggregator.PrepareRun()
	if err != nil {
		return fmt.Errorf("prepare API server: %w", err)
	}

	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended, started := make(chan error, 1), make(chan error, 1)
	var background sync.WaitGroup
	background.Go(func() { s.seeds.feed.Run(life) })
	background.Go(func() { watchRevocations(life, s.office.Client, s.office.Set) })
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	background.Go(func() { s.recorder.Run(recording) })
	defer func() {
		stop()
		stopRecording() // No request is left that changes anything.
		background.Wait()
	}()
	go func() { ended <- prepared.Run(life) }()
	go func() { started <- s.awaitReady(life) }()

	select {
	case err := <-started:
		if err != nil {
			stop()

			return errors.Join(err, <-ended)
		}
	case err := <-ended:
		stop()

		return fmt.Errorf("start API server: %w", errors.Join(errEnded, err, <-started))
	}
	ready()
	select {
	case <-ctx.Done():
		stop()
		err = <-ended
	case err = <-ended:
		err = errors.Join(errEnded, err)
	}
	if err != nil {
		return fmt.Errorf("run API server: %w", err)
	}

	return nil
}

// awaitReady waits until /readyz of the server succeeds, which it requests like any other client.
func (s *Server) awaitReady(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(s.LoopbackConfig())
	if err != nil {
		return fmt.Errorf("create client for readiness: %w", err)
	}
	request := "/readyz?" + strings.Join(s.exclusions(), "&")
	err = wait.PollUntilContextCancel(ctx, readyInterval, true, func(ctx context.Context) (bool, error) {
		return client.RESTClient().Get().RequestURI(request).Do(ctx).Error() == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for API server: %w", err)
	}

	return nil
}

func (s *Server) exclusions() []string {
	var all []string
	for _, check := range s.later {
		all = append(all, "exclude="+check.Name)
	}

	return all
}
