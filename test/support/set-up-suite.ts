// Before each suite: loads the application, whose classes register their metadata once per process.
import '../../src/index.js';
import '../../src/testing/index.js';
import { forgetExtensions } from '../../src/testing/declared.js';

forgetExtensions();
