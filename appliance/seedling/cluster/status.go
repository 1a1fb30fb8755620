// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status is the state of a cluster.
type Status struct {
	StateDir   string       `json:"stateDir"`
	Server     string       `json:"server"`
	Kubeconfig string       `json:"kubeconfig"`
	Parts      []PartStatus `json:"parts"`
	Node       NodeStatus   `json:"node"`
	// Warnings say what does not work on this machine.
	Warnings []string `json:"warnings,omitempty"`
}

// PartStatus is the state of one part. PID is 0 if it does not run.
type PartStatus struct {
	Name    string `json:"name"`
	PID     int    `json:"pid,omitempty"`
	Healthy bool   `json:"healthy"`
	Message string `json:"message,omitempty"`
}

// NodeStatus says whether pods can run.
type NodeStatus struct {
	Name    string `json:"name"`
	Ready   bool   `json:"ready"`
	Message string `json:"message,omitempty"`
}

// Well reports whether all parts are healthy and the node is ready.
func (s Status) Well() bool {
	for _, part := range s.Parts {
		if !part.Healthy {
			return false
		}
	}
	return s.Node.Ready
}

// Status checks every part and the node.
func (c *Cluster) Status(ctx context.Context) Status {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	parts := c.parts()
	status := Status{
		StateDir: c.config.StateDir, Server: c.config.Server(), Kubeconfig: c.config.AdminKubeconfig(),
		Parts: make([]PartStatus, len(parts)), Node: NodeStatus{Name: c.config.NodeName},
		Warnings: warnings(),
	}
	var asking sync.WaitGroup
	for i, p := range parts {
		asking.Go(func() { status.Parts[i] = c.partStatus(ctx, p) })
	}
	asking.Go(func() {
		if err := c.nodeStatus(ctx); err != nil {
			status.Node.Message = err.Error()
			return
		}
		status.Node.Ready = true
	})
	asking.Wait()
	return status
}

func (c *Cluster) partStatus(ctx context.Context, p part) PartStatus {
	status := PartStatus{Name: p.name}
	record, alive, err := c.table.Find(p.name)
	if err != nil {
		status.Message = err.Error()
		return status
	}
	if !alive {
		status.Message = "does not run"
		return status
	}
	status.PID = record.PID
	if err := p.healthy(ctx); err != nil {
		status.Message = err.Error()
		return status
	}
	status.Healthy = true
	return status
}

func (c *Cluster) nodeStatus(ctx context.Context) error {
	client, err := c.kubeClient()
	if err != nil {
		return err
	}
	self, err := client.CoreV1().Nodes().Get(ctx, c.config.NodeName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get node: %w", err)
	}
	return c.usable(self)
}
