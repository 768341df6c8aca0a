C     Fixed form: columns, continuation, blanks in keywords, long lines.
! flags: -std=gnu
      PROGRAM FIXED
      INTEGER I, J, K, AVERYLONGNAMETOFILLTHELINE(3, 4), LIMIT
      CHARACTER*8 S(3)
      LIMIT = 3
      DO 10 CON CURRENT (I = 1 : LIMIT,
C a comment between
     1  J = 1:4, AVERYLONGNAMETOFILLTHELINE(I, J) .EQ. AVERYLONGNAMETOFIxxx
     2LLTHELINE(I, J))
      AVERYLONGNAMETOFILLTHELINE(I, J) = 10*I + J
   10 CONTINUE
      DO J = 1, 4
        DO I = 1, 3
          IF (AVERYLONGNAMETOFILLTHELINE(I, J) .NE. 10*I + J) ERROR STOP
        END DO
      END DO
      DO CONCURRENT (K = 1:3, 'a!b' .NE. 'a
     &!c'); S(K) = 'x;y''z'; END DO                                     junk
      IF (ANY(S .NE. 'x;y''z')) ERROR STOP 2
      DOCONCURRENT(K=LIMIT:1:-1)
      S(K) = 'two'
      E N D D O
      IF (ANY(S .NE. 'two')) ERROR STOP 3
      PRINT *, 'ok'
      END PROGRAM
