// SPDX-License-Identifier: Apache-2.0

// Package gardenaccess connects a gardenlet to the garden.
//
// It uses the first of these credentials that exist: those in the kubeconfig Secret in the seed, a certificate that is
// requested with a bootstrap kubeconfig, a kubeconfig file. As soon as the certificate works, the bootstrap credentials are
// deleted in the seed and in the garden.
//
// Certificates are renewed in the running process: the transport behind Access.Config is replaced. Clients keep working,
// and nothing has to be restarted.
package gardenaccess
