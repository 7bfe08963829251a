import { render } from 'preact';
import './styles.css';
import { App } from './app.js';
import { startSession } from './state/session.js';

// Before anything else, so that the key does not stay in the address.
startSession();

const root = document.getElementById('console');
if (root) render(<App />, root);
