// Runs a server of this folder in several processes that share its port.
// Run: node cluster.mjs PROCESSES SCRIPT [arguments]
import cluster from 'node:cluster';

const [processes, exec, ...args] = process.argv.slice(2);
cluster.setupPrimary({ exec, args });
for (let n = 0; n < Number(processes); n++) cluster.fork();
