// What "npm ci" says on a machine whose Node is too old: one line, where npm has a warning for each package (.npmrc hides those).
const [, version = ''] = /\bnode\/v([\d.]+)/.exec(process.env.npm_config_user_agent || '') || [];
const [major = 0, minor = 0] = version.split('.').map(Number);
if (version !== '' && (major < 24 || (major === 24 && minor < 12))) {
  console.error(
    `watchpost: this machine has Node ${version}; npm scripts and npx use Node ${process.versions.node} from node_modules`,
  );
}
