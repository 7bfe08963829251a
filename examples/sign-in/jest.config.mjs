import { jestConfig } from 'latitude/testing/jest';

export default jestConfig();
