// SPDX-License-Identifier: Apache-2.0

// Package reference protects objects from deletion for as long as others refer to them (GCM-SHOOTREF-1 to GCM-SHOOTREF-5,
// GCM-SEEDREF-1, GCM-CONTROLLERDEPLOYMENT-2). Gardenlets need what a Shoot refers to until the cluster is deleted, and what a Seed
// or a ControllerDeployment refers to until it is gone. A kind whose objects refer to others is a value of type Holder, not another
// controller.
package reference
