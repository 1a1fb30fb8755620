// SPDX-License-Identifier: Apache-2.0

// Package gardenaccess is a gardenlet's way into the garden.
//
// It takes the credentials from the first place that has any: the kubeconfig Secret in the seed, a certificate
// requested with a bootstrap kubeconfig, a kubeconfig file. What was used for the bootstrap is forgotten in the seed
// and in the garden once the certificate works.
//
// Certificates are renewed in the running process: the connection behind Access.Config is exchanged, clients made from
// it go on as they are, and nothing has to restart.
package gardenaccess
