// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	componentbasev1alpha1 "k8s.io/component-base/config/v1alpha1"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// Options say how a cluster is started and where progress is printed.
type Options struct {
	Config Config
	// Binary is the multi-call binary that contains the parts.
	Binary string
	// ImagesDir holds the archives to import, CNIDir the programs of the pod network.
	ImagesDir, CNIDir string
	// ResolvConf names the name servers for names outside of the cluster; if empty, the file of this machine is used.
	ResolvConf string
	Clock      clock.Clock
	// Out gets the progress, line by line.
	Out io.Writer
}

// Cluster is one seedling on this machine.
type Cluster struct {
	Options

	config Config
	table  process.Table
}

// New returns the cluster that the options describe, without any change to the machine.
func New(options Options) *Cluster {
	return &Cluster{
		Options: options,
		config:  options.Config,
		table:   process.Table{RecordDir: options.Config.state("processes"), LogDir: options.Config.state("logs")},
	}
}

// get returns a health check that requests a URL of a part.
func (c *Cluster) get(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := c.httpClient()
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return fmt.Errorf("make request: %w", err)
		}
		response, err := client.Do(request)
		if err != nil {
			return fmt.Errorf("ask for health: %w", err)
		}
		defer response.Body.Close() //nolint:errcheck // It was only read.
		body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		if err != nil {
			return fmt.Errorf("read health: %w", err)
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s: %s", url, response.Status, strings.TrimSpace(string(body)))
		}
		return nil
	}
}

// httpClient returns a client that trusts only the authority of the cluster.
func (c *Cluster) httpClient() (*http.Client, error) {
	content, err := os.ReadFile(c.config.pki("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read authority of the cluster: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("authority of the cluster %q contains no certificate", c.config.pki("ca.crt"))
	}
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true},
	}, nil
}

// kubeClient returns a client with all rights.
func (c *Cluster) kubeClient() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.config.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("read admin kubeconfig: %w", err)
	}
	config.QPS, config.Burst, config.Proxy = 100, 200, noProxy
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client of the cluster: %w", err)
	}
	return client, nil
}

func (c *Cluster) runtimeReady(ctx context.Context) error {
	if _, err := os.Stat(c.config.runtimeSocket()); err != nil {
		return fmt.Errorf("look for the socket of containerd: %w", err)
	}
	return c.withRuntime(func(runtime *node.Runtime) error { return runtime.Ready(ctx) })
}

// withRuntime calls use with a connection to the container runtime.
func (c *Cluster) withRuntime(use func(*node.Runtime) error) error {
	runtime, err := node.Dial(c.config.runtimeSocket(), c.config.mark())
	if err != nil {
		return err
	}
	defer runtime.Close() //nolint:errcheck // All answers have been received.
	return use(runtime)
}

func clientConnection(kubeconfig string) componentbasev1alpha1.ClientConnectionConfiguration {
	return componentbasev1alpha1.ClientConnectionConfiguration{Kubeconfig: kubeconfig}
}
