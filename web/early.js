// What must be said when modules do not even load. A plain script in old syntax, so that it runs where boot.js cannot:
// a browser without modules, a page opened as a file, a host that lacks a part.
(function () {
  'use strict';

  function say(id) {
    document.getElementById('loading').hidden = true;
    document.getElementById(id).hidden = false;
  }

  function whenParsed(then) {
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', then);
    else then();
  }

  function check() {
    if (location.protocol === 'file:') say('from-file');
    else if (!('noModule' in HTMLScriptElement.prototype)) say('not-loaded');
  }

  // Errors of loading do not bubble; they can be caught on their way down.
  addEventListener('error', function (event) {
    if (event.target && event.target.id === 'boot' && location.protocol !== 'file:') {
      whenParsed(function () { say('not-loaded'); });
    }
  }, true);
  whenParsed(check);
})();
