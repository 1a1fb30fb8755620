// SPDX-License-Identifier: Apache-2.0

// Package kubeapi runs real API servers of Kubernetes inside a test, each with an etcd, as processes: for what the API server of a garden
// does not serve, such as Deployments. Nothing acts on their objects. They end with the test.
package kubeapi
