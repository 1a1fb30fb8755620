// SPDX-License-Identifier: Apache-2.0

// Runs before the first paint, so that a chosen theme does not flash.
;(function () {
  try {
    var theme = localStorage.getItem('terrarium.theme')
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  } catch (e) {
    // Without storage the theme is that of the system.
  }
})()
