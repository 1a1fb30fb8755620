// SPDX-License-Identifier: Apache-2.0

// Package inuse keeps an object alive for as long as others reference it (GCM-USE-1, GCM-USE-2). Every live object
// of a protected kind carries a finalizer; in deletion it is released once nobody references it any more, and until then an
// event names who does. A kind is protected by a value of type Protection, not by another controller.
package inuse
