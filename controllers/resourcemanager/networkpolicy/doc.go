// SPDX-License-Identifier: Apache-2.0

// Package networkpolicy makes network policies for the Services of a cluster: each port of a Service is open to the pods that have the
// label for it, and the pods with the label are open towards the pods of the Service. Annotations of the Service open it to other
// namespaces, to the pods of an alias, and to everyone; an Ingress or a VirtualService opens it to the ingress controller.
//
// Only namespaces in which all other traffic is denied have such policies. Elsewhere they would close what is open.
package networkpolicy
