// SPDX-License-Identifier: Apache-2.0

// Package kubeproxy renders the kube-proxy of a shoot: a daemon set inside of it that reaches the API server by its public
// address, because before it runs nothing answers behind the Service of the API server.
package kubeproxy
