import './tools.spec.js';
import { agentsSpeak } from '../support/agent.js';

// All that tools promise holds in the revision without sessions, too.
agentsSpeak('stateless');
