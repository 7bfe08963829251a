import './tools.spec.js';
import { setDefaultProtocolMode } from '../support/agent.js';

// All that tools promise holds in the revision without sessions, too.
setDefaultProtocolMode('stateless');
