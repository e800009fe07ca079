mod play;
