// SPDX-License-Identifier: Apache-2.0

// Package webhook is for extensions that change objects of others when they are written: those of a shoot's control plane in the seed,
// and system components in the shoot. An extension lists its webhooks in a Set; this package registers them, answers for them, and keeps
// their certificates.
//
// In the seed, an extension is asked about the namespaces of its own provider type only, and about objects that are marked for it. In a
// shoot, it is asked about the namespace kube-system. The two have ports of their own: the API servers of shoots, which ask about what
// their owners write, do not reach the webhooks of the seed.
//
// A webhook has to come to the same result each time, and must leave alone what it has changed already. Then the gardenlet, which writes
// the same object in each operation, and the webhook do not change it to and fro.
package webhook
