// SPDX-License-Identifier: Apache-2.0

// Package webhooks judges and changes requests to the API server of a seed: what must not be deleted by accident, and what pods and
// workloads of the seed's components need and do not say themselves.
//
// Each webhook is a row in a table: which requests it is asked about, what happens to them while nobody answers, and the function
// that decides. The table makes both the configuration in the seed and the handlers of the server, so that they cannot differ. A
// decision is a function of the object wherever that is possible.
//
// A seed must not lock up while the resource manager is away. So a webhook is only asked about namespaces of the seed's own
// components, conditions leave out what it would not change, and the pods of the resource manager itself are never asked about.
//
// The API servers of shoots ask too, at a port of their own and by a name of their own for each shoot. The server answers with a certificate
// that the authority of that shoot has signed, and the name says which shoot a request is about; a key in the path shows that it comes from
// there, see Door. There, webhooks are about the pods of system components only, and nothing is read but that shoot.
package webhooks
