"""Language-model servers: recorded calls, tests, previews of prompts."""
