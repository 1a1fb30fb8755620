// SPDX-License-Identifier: Apache-2.0

// Package csr approves the certificate signing requests of gardenlets (GCM-CSR-1 to GCM-CSR-6). A request is approved
// only if it asks for exactly a seed client certificate and its author may create seed clients; a gardenlet that has a
// certificate can only renew it. Everything else is left for people to judge, and nothing is ever denied.
package csr
