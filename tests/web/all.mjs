// All checks of the page, in one process: browsers side by side would only slow each other down.

import './server.mjs';
import './shell.mjs';
import './lab.mjs';
