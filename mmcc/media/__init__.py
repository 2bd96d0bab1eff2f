"""The only room that opens untrusted bytes: video, captions, images, speech."""
